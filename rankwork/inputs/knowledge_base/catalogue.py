"""The shipped lists and templates that the knowledge base is made from, as YAML that people can read."""

from functools import cache
from importlib.resources import files
from typing import Any

DATA = files("rankwork.inputs.knowledge_base") / "data"


@cache
def catalogue(name: str) -> Any:
    """One of the shipped lists, by its name."""
    return read_yaml(f"{name}.yaml")


@cache
def phrases(language: str) -> Any:
    """The templates of a language."""
    return read_yaml(f"templates/{language}.yaml")


def read_yaml(name: str) -> Any:
    """A shipped YAML file."""
    import yaml

    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))
