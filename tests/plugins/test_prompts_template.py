"""What stands in a Markdown command, and that nothing put into it is ever read as a template or as code."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mino_core import UsageError

from mino_prompts.markdown import Markdown
from mino_prompts.shell import with_arguments
from mino_prompts.template import Arguments, fill


def filled(text, rest="", files=None, said=None):
    """The prompt, and the commands that were run for it."""
    ran = []

    def run(commands):
        ran.extend(commands)
        return [(said or {}).get(command, f"<{command}>") for command in commands]

    return fill(text, rest, lambda path: (files or {}).get(path, f"<{path}>"), run), ran


# -- front matter ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Just words.", Markdown("Just words.", "Just words.")),
        ("# A title\n\nWords.", Markdown("# A title\n\nWords.", "A title")),
        ("---\ndescription: Review\n---\nBody\n", Markdown("Body", "Review")),
        (
            "---\nDescription: \"a: b\"\nargument-hint: '<file>'\nmodel: big\nother: x\n# no\n\n---\n\nBody",
            Markdown("Body", "a: b", "<file>", "big"),
        ),
        ("---\ndescription: >\n  two\n  lines\n---\nBody", Markdown("Body", "two lines")),
        ("---\r\ndescription: Review\r\n---\r\nBody\r\nmore", Markdown("Body\nmore", "Review")),
        ("\ufeff---\ndescription: Review\n---\nBody", Markdown("Body", "Review")),
        ("---\nnever closed", Markdown("---\nnever closed", "---\nnever closed".partition("\n")[0])),
        ("----\nx\n---", Markdown("----\nx\n---", "----")),
        ("", Markdown("")),
        ("---\ndescription:\n---\n", Markdown("")),
        ("x" * 200, Markdown("x" * 200, "x" * 79 + "…")),
    ],
)
def test_front_matter_is_taken_off(text, expected):
    assert Markdown.read(text.encode()) == expected


def test_bytes_that_are_no_text_do_not_stop_the_others():
    assert "\ufffd" in Markdown.read(b"\xff\xfe words").body


# -- arguments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rest", "prompt"),
    [
        ("Say $1.", "one two", "Say one."),
        ("$2 before $1", "one 'two words'", "two words before one"),
        ("[$3]", "one two", "[]"),
        ("All: $@", "one 'two words'", "All: one two words"),
        ("Raw: $ARGUMENTS", "one  'two words'", "Raw: one  'two words'"),
        ("$ARGUMENTSX $0 $a $", "x", "$ARGUMENTSX $0 $a $\n\nx"),
        ("$10", "one", "one0"),
        ("costs $$1, not $1", "5", "costs $1, not 5"),
        ("$$x$$ and $$@", "", "$$x$$ and $@"),
        ("it: $1", "what's up", "it: what's"),
        ("No place.", "but words", "No place.\n\nbut words"),
        ("No place.", "  ", "No place."),
        ("Says !!{x} and @@{y}", "", "Says !{x} and @{y}"),
        ("a@b{c} !x {d}", "", "a@b{c} !x {d}"),
    ],
)
def test_arguments_have_their_places(text, rest, prompt):
    assert filled(text, rest)[0] == prompt


def test_files_and_commands_have_theirs():
    prompt, ran = filled("A @{notes/$1.md} B !{git log -- $1} C", "x y")
    assert prompt == "A <notes/x.md> B <git log -- x> C"
    assert ran == ["git log -- x"]


def test_braces_within_come_in_pairs():
    assert filled("!{awk '{print $2}' f}")[1] == ["awk '{print $2}' f"]


@pytest.mark.parametrize("text", ["!{never", "@{never", "!{a {b}"])
def test_what_is_never_closed_is_told(text):
    with pytest.raises(UsageError, match="never closed"):
        filled(text)


def test_nothing_that_is_put_in_is_read_again():
    """Not an argument, not a file, not what a program says."""
    evil = "$1 @{/etc/passwd} !{touch x} $ARGUMENTS"
    prompt, ran = filled("$ARGUMENTS | @{f} | !{c}", evil, files={"f": evil}, said={"c": evil})
    assert prompt == f"{evil} | {evil} | {evil}"
    assert ran == ["c"]


def test_files_are_read_before_anything_is_run():
    def read(path):
        raise UsageError("no such file")

    def run(commands):
        raise AssertionError("it was run")

    with pytest.raises(UsageError):
        fill("!{rm x} @{missing}", "", read, run)


# -- arguments in a shell command --------------------------------------------------------------


def command(template, rest):
    arguments = Arguments.read(rest)
    return with_arguments(template, arguments.value, arguments.words)


@pytest.mark.parametrize(
    ("template", "rest", "expected"),
    [
        ("grep $1 f", "word", "grep word f"),
        ("grep $1 f", "'two words'", "grep 'two words' f"),
        ("grep $1 f", "", "grep '' f"),
        ("ls $@", "'a b' c", "ls 'a b' c"),
        ("ls $@", "", "ls "),
        ("echo $ARGUMENTS", "a; rm -rf ~", "echo 'a; rm -rf ~'"),
        ('grep "$1" f', "'a\"b $(x) `y` \\'", 'grep "a\\"b \\$(x) \\`y\\` \\\\" f'),
        ("awk '{print $1}' $1", "f", "awk '{print $1}' f"),
        ("echo \\$1 $1", "x", "echo \\$1 x"),
        ('echo "\\$1" "$1"', "x", 'echo "\\$1" "x"'),
        ("echo $(cat $1)", "'a b'", "echo $(cat 'a b')"),
        ('echo "${HOME}/$1"', "x", 'echo "${HOME}/x"'),
        ("echo a#$1", "x", "echo a#x"),
        ("# why\necho $1", "x", "# why\necho x"),
        ("echo `date` << x", "unused", "echo `date` << x"),
    ],
)
def test_each_argument_is_one_quoted_word(template, rest, expected):
    assert command(template, rest) == expected


@pytest.mark.parametrize(
    "template",
    ["echo `echo $1`", "cat << E\n$1\nE", 'echo "$(grep "$1" f)"', "echo x # $1", "echo $(($1))",
     "echo $'$1'", 'echo "${x:-$1}"', '((x = $1))'],
)  # fmt: skip
def test_where_the_shell_has_rules_of_its_own_nothing_is_put(template):
    with pytest.raises(UsageError, match=r"no arguments|cannot stand"):
        command(template, "x")


TEMPLATES = (
    'printf "%s|" $1',
    'printf "%s|" "$1"',
    'printf "%s|" a$1',
    'printf "%s|" "a $1"',
    'printf "%s|" $(printf %s x)$1',
    "x=$1; printf '%s|' \"$x\"",
)
EXPECTED = ("{}|", "{}|", "a{}|", "a {}|", "x{}|", "{}|")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_whatever_is_typed_stays_one_word_in_a_real_shell(text):
    """Six templates, one shell: what each prints is the argument and nothing but the argument."""
    arguments = Arguments(text, (text,))
    script = "\nprintf '\\0'\n".join(
        with_arguments(template, arguments.value, arguments.words) for template in TEMPLATES
    )
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout.split(b"\0") == [expected.format(text).encode() for expected in EXPECTED]


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)))
def test_all_of_them_stay_as_many_words_as_they_are(words):
    typed = shlex.join(words)
    arguments = Arguments.read(typed)
    assert list(arguments.words) == words
    line = with_arguments("for x in $@; do printf '%s|' \"$x\"; done", arguments.value, arguments.words)
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False)
    assert done.stdout.decode() == "".join(f"{word}|" for word in words)
