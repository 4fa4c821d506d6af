"""The version of an installed package, as a snapshot names it."""

from importlib.metadata import PackageNotFoundError, version


def package_version(package: str) -> str:
    """The version without its local part; "unknown" where the package has no metadata.

    >>> package_version("no_such_package")
    'unknown'
    """
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return "unknown"
