"""`hookimpl`, the decorator that marks a plugin's hooks; a run does not load pluggy for it."""

OWN_DISTRIBUTION = "cli-host"  # the distribution of this program
# the group of plugins' entry points, and the project's name in pluggy
GROUP = "cli_host"
MARK = f"{GROUP}_impl"  # the attribute that pluggy reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pluggy

    hookimpl = pluggy.HookimplMarker(GROUP)
else:

    def hookimpl(
        function=None, *, tryfirst=False, trylast=False, optionalhook=False, specname=None,
        wrapper=False, hookwrapper=False,
    ):  # fmt: skip
        """Mark `function` as a hook implementation, like pluggy's marker but without pluggy.

        With `tryfirst`, the hook is called before those of other plugins, and with `trylast`,
        after them. Wrappers are accepted here, but a plugin that has one is refused when it is
        loaded.
        """
        options = dict(locals())
        del options["function"]

        # `@hookimpl(tryfirst=True)` is called first, and its result marks the function.
        if function is None:
            return lambda marked: hookimpl(marked, **options)

        setattr(function, MARK, options)
        return function
