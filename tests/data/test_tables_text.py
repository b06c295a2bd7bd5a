"""Text files: every row of the table of bad CSV inputs, and what must hold for all files."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gramian.data import grid
from gramian.data.tables import MISSING, Table, read_table
from gramian.errors import GramianError, GramianWarning, InputError, MemoryRefusedError

NAN = float("nan")
XS: Any = ("x1", "x2")


def read(content: str | bytes, **options: Any) -> Table:
    """The table in a file of this content."""
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = "data.csv"
    return read_table(file, **options)


def refusal(content: str | bytes, **options: Any) -> str:
    """The sentence with which a file is refused, in both modes of treating text."""
    sentences = set()
    for text in (options.pop("text", None) or ["refuse", "keep"],):
        for mode in [text] if isinstance(text, str) else text:
            with pytest.raises(InputError) as caught:
                read(content, text=mode, **options)
            sentences.add(str(caught.value))
    assert len(sentences) == 1, sentences
    sentence = sentences.pop()
    assert "\n" not in sentence
    return sentence


def same(table: Table, numbers: list[list[float]], columns: str = "ab") -> None:
    np.testing.assert_array_equal(table.numbers, np.array(numbers, float))
    assert table.numbers.dtype == np.float64
    assert table.numbers.flags.c_contiguous
    assert table.columns == tuple(columns)


# The table of RELIABILITY.md, row by row


def test_a_bad_value_is_named_with_line_column_value_and_remedy() -> None:
    rows = [f"{i},{i / 7}" for i in range(200)]
    rows[150] = "150,n.d."
    sentence = refusal("a,b\n" + "\n".join(rows))
    assert sentence.startswith("data.csv: line 152, column 'b': 'n.d.' is not a number")
    assert "add 'n.d.' to the words of missing=" in sentence
    table = read("a,b\n" + "\n".join(rows), missing=["n.d."])
    assert np.flatnonzero(np.isnan(table.numbers[:, 1])).tolist() == [150]


@pytest.mark.parametrize("decimal", ["12,5", "n.d.", "1_000", "0x10", "1 2", "--1", "1e", "١"])
def test_what_python_or_a_person_might_read_is_still_no_number(decimal: str) -> None:
    rows = ["1;2"] * 30 + [f"3;{decimal}"]
    assert "line 32, column 'b'" in refusal("a;b\n" + "\n".join(rows))


@pytest.mark.parametrize("word", [*MISSING, "NAN"])
def test_missing_words(word: str) -> None:
    same(read(f"a,b\n1,{word}\n {word} ,4\n"), [[1, NAN], [NAN, 4]])


def test_numbers_that_mean_missing_are_compared_by_value() -> None:
    same(read("a,b\n1,-999\n-999.0,4\n", missing=["-999"]), [[1, NAN], [NAN, 4]])
    content = "a;b\n1;-9,5\n-9,50;4\n"
    same(read(content, missing=["-9,5"], decimal=","), [[1, NAN], [NAN, 4]])


def test_a_declared_infinity_does_not_excuse_an_overflow() -> None:
    assert "'1e400' overflows" in refusal("a,b\n1,inf\n3,1e400\n", missing=["inf"])


def test_missing_words_are_empty_in_text_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "BLOCK", 8)
    table = read("a,b\n1,nan\n2,x\n3,NA\n4,5\n", others="b")
    assert table.others == {"b": ["", "x", "", "5"]}


def test_a_column_of_missing_values_only_is_a_column_of_numbers() -> None:
    same(read("a,b\n1,NA\n2,\n"), [[1, NAN], [2, NAN]])


@pytest.mark.parametrize("word", ["inf", "-inf", "+Inf", "Infinity"])
def test_infinity_is_an_error(word: str) -> None:
    sentence = refusal(f"a,b\n1,2\n3,{word}\n")
    assert f"line 3, column 'b': '{word}' is infinite" in sentence
    same(read(f"a,b\n1,2\n3,{word}\n", missing=[word]), [[1, 2], [3, NAN]])


@pytest.mark.parametrize("word", ["1e400", "-1e400", "1" * 310])
def test_overflow_is_an_error(word: str) -> None:
    assert "line 3, column 'a'" in (sentence := refusal(f"a,b\n1,2\n{word},3\n"))
    assert "overflows float64" in sentence


def test_underflow_is_rounding_not_an_error() -> None:
    same(read("a,b\n1e-400,5e-324\n"), [[0, 5e-324]])


@pytest.mark.parametrize("row", ["3", "3,4,5", "3,4,"])
def test_short_and_long_rows_are_errors(row: str) -> None:
    sentence = refusal(f"a,b\n1,2\n{row}\n5,6\n")
    fields = row.count(",") + 1
    assert f"line 3 has {fields} field{'s' * (fields > 1)}, the header has 2" in sentence


def test_a_missing_cell_and_an_extra_cell_do_not_cancel() -> None:
    assert "line 2 has 1 field," in refusal("a,b\n1\n2,3,4\n")


def test_row_names_without_a_header_as_r_writes_them() -> None:
    assert "put a name for that column first" in refusal('"a" "b"\n"r1" 1 2\n"r2" 3 4\n')


def test_a_delimiter_at_the_end_of_every_line_is_accepted_with_a_note() -> None:
    table = read("a,b,\n1,2,\n3,4,\n")
    same(table, [[1, 2], [3, 4]])
    assert table.notes == ("the delimiter at the end of every line is ignored",)


def test_a_last_column_without_a_name_that_holds_values_is_not_dropped() -> None:
    table = read("a,b,\n1,2,\n3,4,5\n")
    assert table.columns == ("a", "b", "column 3")
    assert table.numbers[1, 2] == 5


def test_spaces_around_numbers() -> None:
    same(read("a , b\n 1,2 \n3\t,  4\n5\u00a0,6\n"), [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(
    ("delimiter", "spoken"),
    [
        (";", "';'"),
        ("\t", "tab"),
        ("|", "'|'"),
        ("  ", "runs of blanks"),
    ],
)
def test_the_delimiter_is_found_and_said(delimiter: str, spoken: str) -> None:
    content = "a,b\n1.5,2\nNA,-3e5\n".replace(",", delimiter)
    table = read(content)
    same(table, [[1.5, 2], [NAN, -3e5]])
    assert table.notes == (f"delimiter {spoken}",)
    given = read(content, delimiter=delimiter[0])
    assert given.notes == ()
    np.testing.assert_array_equal(given.numbers, table.numbers)


def test_a_comma_is_not_worth_a_note() -> None:
    assert read("a,b\n1,2\n").notes == ()


def test_blanks_at_the_ends_of_lines_delimit_nothing() -> None:
    same(read("  a  b\n 1 2   \n3\t4\n"), [[1, 2], [3, 4]])


def test_commas_in_text_do_not_hide_the_delimiter() -> None:
    table = read("who;a;b\nDoe, Jane;1;2\nRoe, Max;3;4\n", text="keep")
    same(table, [[1, 2], [3, 4]])
    assert table.labels == ("Doe, Jane", "Roe, Max")


def test_a_file_without_any_delimiter_is_one_column() -> None:
    same(read("a\n1\n\n3\n"), [[1], [NAN], [3]], "a")


def test_decimal_comma_only_when_said() -> None:
    content = "a;b\n1,5;2\n-3,25e2;4,0\n"
    assert "decimal=','" in (sentence := refusal(content))
    assert "line 2, column 'a': '1,5'" in sentence
    same(read(content, decimal=","), [[1.5, 2], [-325, 4]])


def test_decimal_commas_do_not_hide_the_delimiter() -> None:
    content = "1,5;2,5\n3,25;4,5\n5,0;6,1\n"
    assert "decimal=','" in (sentence := refusal(content, header=False))
    assert "column 'x1': '1,5'" in sentence
    same(read(content, header=False, decimal=","), [[1.5, 2.5], [3.25, 4.5], [5, 6.1]], XS)


def test_a_point_is_refused_where_the_comma_is_decimal() -> None:
    sentence = refusal("a;b\n1,5;2.5\n", decimal=",")
    assert "'2.5' has a decimal point" in sentence


@pytest.mark.parametrize("number", ["1,234,567", "1 234", "1'234.5", "12,345.67"])
def test_thousands_separators_are_refused(number: str) -> None:
    assert "without thousands separators" in refusal(f"a;b\n{number};1\n{number};2\n")


def test_thousands_separators_with_decimal_comma() -> None:
    assert "without thousands" in refusal("a;b\n1.234,5;1\n2.000,1;2\n", decimal=",")


def test_duplicate_names_are_refused_and_named() -> None:
    assert "'a' (columns 1 and 3)" in refusal("a,b, a\n1,2,3\n")


@pytest.mark.parametrize("first", ["1.5,2", "1.5,NA", "1990,1991", "1.5,"])
def test_a_line_of_numbers_is_not_a_header(first: str) -> None:
    sentence = refusal(f"{first}\n3,4\n")
    assert "line 1 holds numbers" in sentence
    assert "--no-header" in sentence
    table = read(f"{first}\n3,4\n", header=False)
    assert table.columns == ("x1", "x2")
    assert table.numbers.shape == (2, 2)
    assert table.notes == ("no header: columns are called x1 and x2",)


def test_numbers_as_names_when_the_caller_says_so() -> None:
    same(read("1990,1991\n3,4\n", header=True), [[3, 4]], ("1990", "1991"))  # type: ignore[arg-type]


def test_some_numbers_among_the_names_are_said() -> None:
    assert "'1.5' in it is a number" in read("dose,1.5,x\n1,2,3\n").notes[0]


def test_the_short_first_row_of_a_file_without_header() -> None:
    assert "line 2 has 3 fields, line 1 has 2" in refusal("1,2\n3,4,5\n", header=False)


def test_byte_order_mark_and_crlf() -> None:
    same(read(b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4"), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
    ],
)
def test_wide_encodings_are_named(encoding: str, name: str) -> None:
    assert f"encoded as {name}" in refusal("alpha,beta\n1,2\n".encode(encoding))


def test_latin_1_is_named_with_its_line() -> None:
    sentence = refusal("a,b\n1,2\n3,é\n".encode("latin-1"))
    assert "line 3 is not UTF-8" in sentence
    assert "Latin-1" in sentence
    assert "'é'" in sentence


def test_carriage_returns_alone() -> None:
    assert "carriage return alone" in refusal("a,b\r1,2\r3,4\r")
    assert "line 2 has a carriage return" in refusal("a,b\n1,2\r3,4\n")


def test_nul_bytes() -> None:
    assert "line 3 has a NUL byte" in refusal("a,b\n1,2\n3\0,4\n")


def test_integers_beyond_2_53_are_said_once() -> None:
    content = "a,b\n9007199254740993,9007199254740995\n9007199254740997,1\n"
    with pytest.warns(GramianWarning, match=r"'9007199254740993' on line 2 in column 'a'") as seen:
        table = read(content)
    assert len(seen) == 1
    assert table.numbers[0, 0] == 9007199254740992


def test_large_numbers_that_are_exact_are_not_warned_about() -> None:
    same(read("a,b\n9007199254740992,1e300\n36028797018963968,-1.5e200\n"),
         [[2**53, 1e300], [2**55, -1.5e200]])  # fmt: skip


def test_integers_of_very_many_digits() -> None:
    same(read("a,b\n" + "0" * 5000 + "9007199254740992,1\n"), [[2**53, 1]])
    assert "overflows" in refusal("a,b\n" + "9" * 5000 + ",1\n")


def test_header_only_and_empty_files() -> None:
    assert "a header but no rows" in refusal("a,b\n")
    assert "a header but no rows" in refusal("a,b")
    for content in ("", "\n\n", "\ufeff", "  \r\n"):
        assert "the file is empty" in refusal(content)


def test_blank_lines_at_the_end_are_fine_and_elsewhere_are_not() -> None:
    same(read("a,b\n1,2\n\n  \n\r\n"), [[1, 2]])
    assert "line 3 is blank" in refusal("a,b\n1,2\n\n3,4\n")
    assert "line 1 is blank" in refusal("\na,b\n1,2\n")


def test_a_row_of_missing_values_at_the_end_is_a_row() -> None:
    same(read("a\tb\n1\t2\n\t\n"), [[1, 2], [NAN, NAN]])


def test_a_spreadsheet_is_not_text() -> None:
    assert "save the sheet as CSV" in refusal(b"PK\x03\x04\x14\x00\x06\x00")


# Quotation marks


def test_quoted_fields_hold_delimiters_newlines_and_quotes() -> None:
    content = 'id,"the\nname",b\n"x, ""y""",1,"2"\n"line\r\nbreak","3",4\n'
    table = read(content, text="keep")
    same(table, [[1, 2], [3, 4]], ("the\nname", "b"))  # type: ignore[arg-type]
    assert table.labels == ('x, "y"', "line\nbreak")


def test_lines_are_counted_as_an_editor_shows_them() -> None:
    content = 'id,a\n"x\ny\nz",1\nw,2\nv,inf\n'
    assert "line 6, column 'a'" in refusal(content, drop="id")
    assert "line 6 has 3 fields" in refusal('id,a\n"x\ny\nz",1\nw,2\nv,3,4\n')


def test_quotation_marks_never_closed() -> None:
    assert "begins on line 3 has a quotation mark that is never" in refusal('a,b\n1,2\n3,"4\n5,6\n')
    assert "begins on line 2 has a quotation mark that is never" in refusal('a,b\n"x,1\n"y",2\n')
    sentence = refusal('a,b\n"x,1\n"y","z"\n3,4"\n')
    assert "line 3 has a quotation mark" in sentence
    assert "opened on line 2" in sentence


@pytest.mark.parametrize("row", ['5" pipe,5"', '"x"y,1', 'a"b"c,1', '"", "x"'])
def test_quotation_marks_must_enclose_whole_fields(row: str) -> None:
    assert "line 3 has a quotation mark" in refusal(f"a,b\nu,1\n{row}\n")


# Columns that are not numbers

MIXED = "site,depth,soil,date,n\nA,1,clay,2020-01-01,3\nB,2,,2020-01-02,4\nC,NA,sand,NA,5\n"


def test_text_is_refused_with_names_examples_and_a_remedy() -> None:
    with pytest.raises(InputError) as caught:
        read(MIXED)
    sentence = str(caught.value)
    for part in ("3 columns", "'site' ('A' on line 2)", "'soil' ('clay' on line 2)", "drop="):
        assert part in sentence
    assert "labels=" in sentence


def test_only_five_columns_are_named() -> None:
    names = [f"t{i}" for i in range(8)]
    with pytest.raises(InputError, match=r"8 columns .*'t4' \('u' on line 2\) and 3 more;"):
        read(",".join(["a", *names]) + "\n1" + ",u" * 8 + "\n")


def test_text_is_kept_apart_and_said() -> None:
    table = read(MIXED, text="keep")
    np.testing.assert_array_equal(table.numbers, [[1, 3], [2, 4], [NAN, 5]])
    assert table.columns == ("depth", "n")
    assert table.labels == ("A", "B", "C")
    assert table.others == {
        "soil": ["clay", "", "sand"],
        "date": ["2020-01-01", "2020-01-02", ""],
    }
    assert table.notes == (
        "column 1 'site' taken as row names",
        "not numbers, and kept apart: 'soil' ('clay' on line 2) and "
        "'date' ('2020-01-01' on line 2)",
    )


@pytest.mark.parametrize("first", ["A\nB\nA", "A\nB\n"])
def test_row_names_must_be_all_different_and_present(first: str) -> None:
    rows = [f"{word},1" for word in first.split("\n")]
    table = read("who,a\n" + "\n".join(rows), text="keep")
    assert table.labels is None
    assert table.others == {"who": first.split("\n")}


def test_only_the_first_column_becomes_row_names_by_itself() -> None:
    table = read("a,who\n1,x\n2,y\n", text="keep")
    assert table.labels is None
    assert table.others == {"who": ["x", "y"]}


@pytest.mark.parametrize("text", ["refuse", "keep"])
def test_an_unnamed_first_column_is_an_index(text: Any) -> None:
    for content in (",a,b\n0,1,2\n1,3,4\n", '"","a","b"\n"0",1,2\n"1",3,4\n'):
        table = read(content, text=text)
        same(table, [[1, 2], [3, 4]])
        assert table.labels == ("0", "1")
        assert table.notes == ("column 1 has no name and is taken as row names",)
    same(read(",0,1\n0,1,2\n", text=text), [[1, 2]], "01")


def test_a_column_of_few_numbers_is_text_and_one_of_many_is_a_mistake() -> None:
    def column(numbers: int, words: int) -> str:
        return "a,b\n" + "1,2\n" * numbers + "1,x\n" * words

    assert read(column(89, 11), text="keep").others["b"] == ["2"] * 89 + ["x"] * 11
    assert "line 92, column 'b': 'x'" in refusal(column(90, 10))
    missing = "a,b\n" + "1,2\n" * 8 + "1,x\n" + "1,NA\n" * 991
    assert "b" in read(missing, text="keep").others, "missing values are no numbers"


def test_a_column_that_turns_out_to_be_text_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "BLOCK", 64)
    content = "a,b,c\n" + "".join(f"{i},{i},{i}\n" for i in range(100)) + "1,x y,3\n" * 200
    table = read(content, text="keep")
    assert table.columns == ("a", "c")
    assert table.others["b"] == [str(i) for i in range(100)] + ["x y"] * 200
    np.testing.assert_array_equal(table.numbers[:, 0], [*range(100), *[1] * 200])
    assert "not numbers, and kept apart: 'b' ('x y' on line 102)" in table.notes


def test_no_column_of_numbers() -> None:
    assert "no column holds numbers" in refusal("a,b\nx,y\n", text="keep")


def test_booleans_in_text_are_text() -> None:
    assert read("a,b\n1,true\n2,false\n", text="keep").others == {"b": ["true", "false"]}


def test_a_hundred_columns_with_text_and_gaps() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 98))
    X[rng.random(X.shape) < 0.1] = NAN
    lines = ["name,kind," + ",".join(f"v{j}" for j in range(98))]
    for i, row in enumerate(X):
        cells = ["" if np.isnan(x) else repr(float(x)) for x in row]
        lines.append(f"row {i},{'odd' if i % 2 else 'even'}," + ",".join(cells))
    table = read("\r\n".join(lines), text="keep")
    np.testing.assert_array_equal(table.numbers, X)
    assert table.labels == tuple(f"row {i}" for i in range(40))
    assert table.others == {"kind": ["even", "odd"] * 20}
    assert table.columns[-1] == "v97"


# Choosing columns

ABC = "id,a,b,c\nu,1,2,x\nv,3,4,y\n"


def test_columns_drop_labels_and_others() -> None:
    same(read(ABC, columns=["b", "a"]), [[1, 2], [3, 4]])
    same(read(ABC, columns=[1, "b"]), [[1, 2], [3, 4]])
    same(read(ABC, drop=["id", "c"]), [[1, 2], [3, 4]])
    same(read(ABC, drop=["id", 3, "b"]), [[1], [3]], "a")
    table = read(ABC, labels="c", drop="id", others="b")
    same(table, [[1], [3]], "a")
    assert table.labels == ("x", "y")
    assert table.others == {"b": ["2", "4"]}


def test_errors_in_columns_that_are_left_out_do_not_matter() -> None:
    same(read("a,b,c\n1,2,inf\n3,4,x\n", drop="c"), [[1, 2], [3, 4]])


def test_a_listed_column_must_be_numbers_in_both_modes() -> None:
    assert "'c' ('x' on line 2)" in refusal(ABC, columns=["a", "c"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"columns": ["aa"]}, "no column 'aa'; did you mean 'a'?"),
        ({"drop": "zzz"}, "no column 'zzz'; it has 'id', 'a', 'b' and 'c'"),
        ({"labels": 4}, "no column at position 4"),
        ({"labels": -1}, "no column at position -1"),
        ({"drop": [0, 1, 2, 3]}, "no columns are left"),
        ({"columns": []}, "no columns are left"),
        ({"delimiter": ""}, "delimiter must be"),
        ({"delimiter": ",,"}, "delimiter must be"),
        ({"delimiter": "a"}, "delimiter must be"),
        ({"delimiter": ",", "decimal": ","}, "not the decimal sign"),
        ({"decimal": ";"}, "decimal must be"),
        ({"header": "yes"}, "header must be"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], part: str) -> None:
    assert part in refusal(ABC, **options)


def test_text_mode_that_makes_no_sense() -> None:
    with pytest.raises(InputError, match="text must be"):
        read(ABC, text="ignore")


def test_names_in_messages_are_escaped_and_short() -> None:
    sentence = refusal("\x1b[2J,b\nx" + "y" * 1000 + ",1\n", columns=[0])
    assert "\x1b" not in sentence
    assert len(sentence) < 400


# Size


def test_a_hundred_thousand_columns() -> None:
    names = [f"c{j}" for j in range(100_000)]
    row = [str(j / 8) for j in range(100_000)]
    table = read("\n".join([",".join(names), ",".join(row), ",".join(row[::-1])]))
    assert table.columns == tuple(names)
    np.testing.assert_array_equal(table.numbers[0], np.arange(100_000) / 8)
    np.testing.assert_array_equal(table.numbers[1], np.arange(100_000)[::-1] / 8)


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "LONGEST_RECORD", 10_000)
    monkeypatch.setattr(grid, "BLOCK", 1_000)
    assert "line 2 is longer than 10 kB" in refusal("a,b\n1," + "2" * 100_000)
    assert "line 2 is longer" in refusal('a,b\n1,"2\n' + "3,4\n" * 25_000)


def test_numbers_that_do_not_fit_are_refused() -> None:
    content = "a,b\n" + "1,2\n" * 1_000_000
    with pytest.raises(MemoryRefusedError, match=r"need more than \S+ MB of memory, 15 MB may be"):
        read(content, max_bytes=15_000_000)


def test_numbers_that_do_not_fit_are_refused_after_the_first_block(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_000_000 + "a mistake that is not reached\n")
    with pytest.raises(MemoryRefusedError, match=r"about 16\S* MB of memory, 10 MB may be used"):
        read_table(path, max_bytes=10_000_000)
    path.write_text("a,b\n" + "1,2\n" * 1_000_000)
    assert read_table(path, max_bytes=17_000_000).numbers.shape == (1_000_000, 2)


def test_a_long_line_is_not_looked_at_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "BLOCK", 100)
    looks: list[int] = []
    end = grid._end_of_records
    monkeypatch.setattr(grid, "_end_of_records", lambda text: looks.append(1) or end(text))
    table = read(",".join(f"c{j}" for j in range(10_000)) + "\n" + ",".join(["1"] * 10_000))
    assert table.numbers.shape == (1, 10_000)
    assert len(looks) < 50


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc for the peak of a process")
def test_memory_is_a_small_multiple_of_the_array(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    line = ",".join(["0.125"] * 50) + "\n"
    path.write_text(",".join(f"c{j}" for j in range(50)) + "\n" + line * 160_000)
    # A process of its own: the peak of this one may lie far back. The small file first, so that
    # imports and thread pools do not count.
    script = """
import io, re, sys
from gramian.data.tables import read_table
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
read_table(io.BytesIO(b"a\\n1\\n"))
before = peak()
numbers = read_table(sys.argv[1]).numbers
print(numbers.nbytes, peak() - before)
"""
    run = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    size, peak = map(int, done.stdout.split())
    assert size == 64_000_000
    assert peak < 3 * size


def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "moving.csv"
    path.write_text("a,b\n1,2\n")
    checked = grid._checked

    def meanwhile(name: str, text: bytes, line: int) -> bytes:
        path.write_text("a,b\n1,2\n3,4\n")
        return checked(name, text, line)

    monkeypatch.setattr(grid, "_checked", meanwhile)
    with pytest.raises(InputError, match="changed while it was being read"):
        read_table(path)


# What holds for all files

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
BLOCKS = st.sampled_from([1, 2, 7, 50, 1 << 20])
WORDS = st.text(st.sampled_from('ab ,;"\n\t|é'), max_size=5).map(lambda word: f"w{word}w")


def with_block(size: int, content: bytes, **options: Any) -> Table:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "BLOCK", size)
        return read(content, **options)


def written(rows: list[list[str]], delimiter: str, ending: str) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator=ending).writerows(rows)
    return file.getvalue().encode()


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    width = draw(st.integers(1, 4))
    row = st.lists(FLOATS | st.just(NAN), min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=8))


@given(matrices(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), BLOCKS)
@example([[5e-324, 1.7976931348623157e308]], ",", "\n", 1)
@example([[0.1, -0.0], [2**53 - 1.0, 1 / 3]], ";", "\r\n", 7)
def test_floats_come_back_bit_for_bit(
    rows: list[list[float]], delimiter: str, ending: str, block: int
) -> None:
    X = np.array(rows)
    cells = [[f"n{j}" for j in range(X.shape[1])]]
    cells += [["NA" if x != x else repr(x) for x in row] for row in rows]
    table = with_block(block, written(cells, delimiter, ending), delimiter=delimiter)
    assert table.numbers.tobytes() == np.where(np.isnan(X), NAN, X).tobytes()


@given(st.lists(WORDS, min_size=2, max_size=9), st.sampled_from(",;\t|"), BLOCKS)
def test_text_comes_back_whole(words: list[str], delimiter: str, block: int) -> None:
    rows = [["a", "word"], *([str(i), word] for i, word in enumerate(words))]
    table = with_block(block, written(rows, delimiter, "\n"), delimiter=delimiter, text="keep")
    assert table.others == {"word": words}
    np.testing.assert_array_equal(table.numbers[:, 0], np.arange(len(words)))


VALID = b'a,"b b",c\r\n1,2.5,-3e5\n,"NA", 7 \n.5,4.,"10"\n1,2,3\n'


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(VALID) - 1),
            st.integers(0, 1),
            st.sampled_from([bytes([b]) for b in b'\n\r,";.0e-x \0\xe9'] + [b"", b"1e400", b"inf"]),
        ),
        min_size=1,
        max_size=4,
    ),
    BLOCKS,
    st.sampled_from(["refuse", "keep"]),
)
def test_a_damaged_file_is_read_as_it_stands_or_refused(
    edits: list[tuple[int, int, bytes]], block: int, text: Any
) -> None:
    content = VALID
    for at, removed, added in edits:
        content = content[:at] + added + content[at + removed :]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GramianWarning)
            table = with_block(block, content, text=text, delimiter=",", header=True)
    except GramianError:
        return
    # An independent, slow reader must see the same table.
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n ")
    rows = list(csv.reader(io.StringIO(lines, newline=""), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    names = [name.strip() or f"column {j + 1}" for j, name in enumerate(rows[0])]
    assert np.isfinite(table.numbers).sum() + np.isnan(table.numbers).sum() == table.numbers.size
    for name, values in zip(table.columns, table.numbers.T, strict=True):
        column = [row[names.index(name)].strip() for row in rows[1:]]
        expected = [float(cell) if NUMBER.fullmatch(cell) else NAN for cell in column]
        np.testing.assert_array_equal(values, expected)
        assert all(NUMBER.fullmatch(c) or c in {"", "NA", "."} for c in column)
    for name, words in table.others.items():
        column = [row[names.index(name)].strip() for row in rows[1:]]
        assert words == ["" if cell in {"", "NA", "."} else cell for cell in column]
