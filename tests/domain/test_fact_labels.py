"""Labels of a fact, whatever was said about them."""

from __future__ import annotations

from typing import Any

import pytest

from domain.bank_labels import LabelGroup
from domain.entities import LONGEST, cleaned
from domain.fact_labels import labels_of, missing_labels


def group(**fields: Any) -> LabelGroup:
    return LabelGroup.model_validate({"key": "topic", "type": "text", "tag": True, **fields})


def test_a_label_that_is_a_tag_is_as_long_as_a_tag_may_be_and_the_same_as_its_name() -> None:
    """A text of any length was a tag that no filter could name."""
    labels = labels_of([group()], {"topic": "long words " * 1000})
    assert labels.names == labels.tags == cleaned(labels.names)
    assert len(labels.tags[0]) <= LONGEST


def test_a_text_is_one_label_and_several_are_only_where_several_may_be() -> None:
    given = {"topic": ["one", "two", "one"]}
    assert labels_of([group()], given).names == ("topic:one",)
    assert labels_of([group(type="multi-text")], given).names == ("topic:one", "topic:two")


@pytest.mark.parametrize("nothing", ["", " n/a ", "None", None, True, [], {}, ["-"], [None]], ids=repr)
def test_what_says_that_there_is_none_is_no_label(nothing: Any) -> None:
    asked = group(optional=False)
    assert labels_of([asked], {"topic": nothing}) == ((), ())
    assert missing_labels([asked], {"topic": nothing}) == (asked,)


def test_a_label_that_is_no_tag_gives_none() -> None:
    assert labels_of([group(tag=False)], {"topic": "one"}) == (("topic:one",), ())
