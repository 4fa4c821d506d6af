"""The fifty tenants of the knowledge base, with the services that each of them runs."""

from dataclasses import dataclass
from typing import Any

from rankwork.inputs.knowledge_base.catalogue import catalogue
from rankwork.inputs.knowledge_base.drawing import Draws

Facts = dict[str, Any]


@dataclass(frozen=True)
class Service:
    """A Java service as one tenant runs it, with the team that answers for it."""

    name: str
    prefix: str
    root: str
    team: str
    minutes: int

    @property
    def facts(self) -> Facts:
        """What its documents say of it whatever the revision."""
        return {
            "service": self.name, "prefix": self.prefix, "root": self.root, "team": self.team,
            "channel": f"#{self.team.lower()}-{self.root}", "minutes": self.minutes,
            "key_pool": f"{self.root}.pool.max-active", "key_timeout": f"{self.root}.db.timeout-seconds",
        }  # fmt: skip


@dataclass(frozen=True)
class Tenant:
    """An invented organisation: its place in the list, its language, and three services in order of their use."""

    place: int
    slug: str
    name: str
    language: str
    services: tuple[Service, Service, Service]
    draws: Draws

    @property
    def restricted(self) -> tuple[str, str]:
        """The kind of its restricted document, and the role that may read it."""
        kind, role = catalogue("tenants")["restricted"][self.place % 3]
        return kind, role

    @property
    def revisions(self) -> tuple[int, int, int]:
        """How often the runbook of each service was written; a third of the tenants changed the first just now."""
        return (3 if self.place % 3 == 0 else 2, 2, 1)

    @property
    def has_ticket(self) -> bool:
        """Whether it has a support ticket that holds an injected instruction."""
        return self.place % 5 != 4


def tenants(seed: int) -> tuple[Tenant, ...]:
    """All tenants, in the order of the list."""
    return tuple(_tenant(place, seed, *row) for place, row in enumerate(catalogue("tenants")["tenants"]))


def _tenant(place: int, seed: int, slug: str, full_name: str, language: str) -> Tenant:
    draws = Draws(seed).under(slug)
    pool = catalogue("tenants")["services"]
    teams = catalogue("tenants")["teams"]
    first_team = draws.below(len(teams), "team")
    chosen = [pool[(5 * place + step) % len(pool)] for step in (0, 3, 9)]
    services = [
        Service(name, prefix, root, teams[(first_team + at) % len(teams)], draws.number(10, 45, 5, name, "minutes"))
        for at, (name, prefix, root) in enumerate(chosen)
    ]
    return Tenant(place, slug, full_name, language, (services[0], services[1], services[2]), draws)
