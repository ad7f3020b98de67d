"""Our mark is pluggy's mark."""

import pluggy
import pytest

from host import hookimpl
from host.hook_marker import GROUP, MARK

OPTIONS = [
    {},
    {"tryfirst": True},
    {"trylast": True},
    {"wrapper": True},
    {"specname": "other"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_what_pluggy_sets(options):
    def ours():
        return None

    def theirs():
        return None

    assert hookimpl(**options)(ours) is ours
    pluggy.HookimplMarker(GROUP)(**options)(theirs)
    assert f"{GROUP}_impl" == MARK
    assert getattr(ours, MARK) == getattr(theirs, MARK)


def test_without_brackets():
    @hookimpl
    def marked():
        return None

    assert getattr(marked, MARK)["tryfirst"] is False
    with pytest.raises(TypeError):
        hookimpl(nothing=True)
