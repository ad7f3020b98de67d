"""The first words of the commands in a plugin's directory, with files that prove them."""

from host.catalog.command_files import FolderNode
from host.record_base import CommandTree


def files_by_word(tree: CommandTree) -> dict[str, str]:
    """Return the words at the top of a tree, each with a file that shows that it has commands.

    A folder without commands has "", because it may get its first command at any time.
    """
    files = {}
    for word, node in FolderNode(tree).inside().items():
        files[word] = node.script or node.evidence_of_commands()
    if not tree.under:
        return files

    # A plugin below a category has only the first word of that category.
    for evidence in files.values():
        if evidence:
            return {tree.under[0]: evidence}
    return files
