"""A text without what points at a person: addresses, telephone and account numbers, secrets, and words that are named.

Redaction leaves a text that can be read and searched with. It is no anonymity: what a name or a rare question gives
away, no pattern finds. A person reads it before it leaves the house.
"""

import re
from collections.abc import Iterable

_DIGITS_OF_A_NUMBER = 9
_DIGITS_WITH_A_PLUS = 7
_DIGITS_IN_A_ROW = 6
_URL = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+", re.I)
_IN_NAME = r"[^\s@<>\"',;:()]"
_EMAIL = re.compile(rf"(?<!{_IN_NAME}){_IN_NAME}+@{_IN_NAME}+\.{_IN_NAME}*[^\W_]")  # tried once a word: linear in time
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SECRET = re.compile(r"(?<![\w-])(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]{24,}(?![\w-])")
_NUMBER = re.compile(r"\+?\(?\d(?:[\d ()./-]*\d)?")


def redacted(text: str, words: Iterable[str] = ()) -> str:
    """The text with marks such as `[email]` in place of what was found; `words` are replaced whole, in any case.

    Numbers stay where they are short, and so do dates: an error code or a version carries the question.

    >>> redacted("Ann Lee (ann@example.org, +49 30 1234567) gets error 502", words=["Ann Lee"])
    '[name] ([email], [number]) gets error 502'
    >>> redacted("What changed on 2026-03-01 in 2.13.0?")
    'What changed on 2026-03-01 in 2.13.0?'
    """
    for pattern, mark in ((_URL, "[url]"), (_EMAIL, "[email]"), (_ACCOUNT, "[account]"), (_SECRET, "[secret]")):
        text = pattern.sub(mark, text)
    text = _NUMBER.sub(_number, text)
    for word in sorted(words, key=len, reverse=True):
        if word.strip():
            text = re.sub(rf"(?<!\w){re.escape(word.strip())}(?!\w)", "[name]", text, flags=re.I)
    return text


def _number(match: re.Match[str]) -> str:
    found = match[0]
    digits = sum(character.isdigit() for character in found)
    in_a_row = max(map(len, re.findall(r"\d+", found)))
    long = digits >= _DIGITS_OF_A_NUMBER or (found[0] == "+" and digits >= _DIGITS_WITH_A_PLUS)
    return "[number]" if long or in_a_row >= _DIGITS_IN_A_ROW else found
