"""The table of characters that look alike is what Unicode's says, and can be written anew."""

from tests.names.write_alike import PATH, content, rows


def test_the_table_is_as_its_writer_writes_it() -> None:
    assert PATH.read_text(encoding="ascii") == content()


def test_the_classes_of_letters_have_no_member_in_common() -> None:
    members = [each for row in rows() for each in row if all(len(other) == 1 for other in row)]
    assert len(members) == len(set(members)) > 800
