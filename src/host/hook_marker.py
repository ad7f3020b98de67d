"""`hookimpl`: what marks a function of a plugin as the implementation of a hook."""

from __future__ import annotations

MARK = "cli_host_impl"  # where pluggy looks for it: the project's name and "_impl"

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pluggy

    hookimpl = pluggy.HookimplMarker("cli_host")
else:

    def hookimpl(
        function=None, *, tryfirst=False, trylast=False, optionalhook=False, specname=None,
        wrapper=False, hookwrapper=False,
    ):  # fmt: skip
        """Mark `function`, as `pluggy.HookimplMarker` does, without importing pluggy.

        `tryfirst` and `trylast` move it before or behind those of all other plugins.
        Wrappers are taken here and refused when the plugin is loaded, with a reason.
        """
        options = {name: value for name, value in locals().items() if name != "function"}
        if function is None:
            return lambda marked: hookimpl(marked, **options)
        setattr(function, MARK, options)
        return function
