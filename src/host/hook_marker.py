"""`hookimpl`: the decorator for a plugin's functions that implement hooks."""

MARK = "cli_host_impl"  # the attribute that pluggy reads: the project's name and "_impl"

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pluggy

    hookimpl = pluggy.HookimplMarker("cli_host")
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
        options = {name: value for name, value in locals().items() if name != "function"}
        if function is None:
            return lambda marked: hookimpl(marked, **options)
        setattr(function, MARK, options)
        return function
