"""What Tab offers behind `self` is what click takes there."""

from testing.completion_table import FILE, made


def test_the_table_is_what_the_commands_say() -> None:
    assert FILE.read_text() == made(), "run: cd tests && python -m testing.completion_table"
