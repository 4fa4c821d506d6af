"""Questions for the knowledge base: each a draft with what it rests on, before clusters and splits are known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from rankwork.inputs.knowledge_base.catalogue import catalogue, phrases
from rankwork.inputs.knowledge_base.documents import Written
from rankwork.inputs.knowledge_base.facts import LISTED_CODES, NOW, error_codes
from rankwork.inputs.knowledge_base.tenants import Facts, Service, Tenant
from rankwork.trace import Evidence, Identity, Requirement

ENGINEER = "engineer"
DIRECT, ALSO = 2, 1  # grades: the place that is meant to say it, and another that repeats it


@dataclass(frozen=True)
class Need:
    """One thing that a right answer has to say: the passages that say it, and the point in few words.

    `variants` are other ways to write the point that are as right.
    """

    name: str
    passages: tuple[tuple[Written, str], ...]
    point: str
    variants: tuple[str, ...] = ()

    def requirement(self) -> Requirement:
        """Any of the passages will do; the first is the one that is meant to say it."""
        return Requirement(
            name=self.name,
            any_of=tuple(
                evidence(written, mark, grade=ALSO if place else DIRECT)
                for place, (written, mark) in enumerate(self.passages)
            ),
        )


@dataclass(frozen=True)
class Draft:
    """A question of one tenant: which phrases ask it, who asks, when, and what the answer rests on."""

    tenant: Tenant
    name: str
    phrase: str
    facts: Facts
    part: str
    needs: tuple[Need, ...] = ()
    refused: bool = False
    role: str = ENGINEER
    time: datetime = NOW
    language: str = ""
    phrasings: tuple[str, ...] = ()

    def questions(self) -> list[str]:
        """All phrasings of it, in the language in which it is asked."""
        known = self.phrasings or phrases(self.asked_in)["questions"][self.phrase]
        return [phrasing.format_map(self.facts) for phrasing in known]

    @property
    def identity(self) -> Identity:
        """Who asks."""
        return Identity(tenant=self.tenant.slug, role=self.role)

    @property
    def slices(self) -> tuple[str, ...]:
        """The slice that it was written for, and those of languages."""
        several = () if self.asked_in == self.tenant.language == "en" else ("multilingual",)
        return (self.part, *several, f"language_{self.asked_in}")

    @property
    def asked_in(self) -> str:
        """The language of the question: the tenant's, unless it says another."""
        return self.language or self.tenant.language


def evidence(written: Written, mark: str, *, grade: int = DIRECT) -> Evidence:
    """The passage of a mark, anchored in its source."""
    document, (start, end) = written.document, written.marks[mark]
    return Evidence(
        id=f"{document.id}#{mark}",
        source=document.source,
        revision=document.revision,
        start=start,
        end=end,
        quote=written.quote(mark),
        grade=grade,
    )


class Library:
    """The written documents, to be looked up by tenant and source."""

    def __init__(self, documents: Sequence[Written]) -> None:
        self._by_id = {written.document.id: written for written in documents}

    def of(self, tenant: Tenant, source: str, *, revision: int = 1) -> Written:
        """One revision of a tenant's document."""
        return self._by_id[f"{tenant.slug}.{source}@r{revision}"]

    def runbook(self, tenant: Tenant, service: Service, *, back: int = 0) -> Written:
        """The current runbook of a service, or one that is `back` revisions older."""
        last = tenant.revisions[tenant.services.index(service)]
        return self.of(tenant, f"{service.name}.runbook", revision=last - back)

    def guide(self, name: str) -> Written:
        """One of the platform's guides."""
        return self._by_id[f"platform.guide.{name}@r1"]


def drafts(library: Library, tenants: Sequence[Tenant]) -> Iterator[Draft]:
    """Every question, tenant by tenant; those of the guides come last."""
    for tenant in tenants:
        yield from _frequent(library, tenant)
        yield from _long_tail(library, tenant)
        yield from _identifiers(library, tenant)
        yield from _ambiguous(library, tenant)
        yield from _multi_hop(library, tenant)
        yield from _fresh(library, tenant)
        yield from _permissions(library, tenant)
        yield from _other_tenant(library, tenant, tenants[(tenant.place + 1) % len(tenants)])
        yield from _injected(library, tenant)
        yield from _unanswerable(tenant)
        yield from _across_languages(library, tenant)
    yield from _guides(library, [tenant for tenant in tenants if tenant.language == "en"])


def _need(written: Written, mark: str, *also: tuple[Written, str]) -> Need:
    """A need whose point is phrased in the language of the document that meets it."""
    point = phrases(written.document.language)["claims"][mark].format_map(written.facts)
    others = (other.format_map(written.facts) for other in catalogue("tenants")["variants"].get(mark, ()))
    return Need(mark, ((written, mark), *also), point, tuple(other for other in others if other != point))


def _asked_on(tenant: Tenant) -> datetime:
    return NOW + timedelta(days=tenant.place % 5, hours=tenant.draws.below(8, "hour of asking"))


def _draft(tenant: Tenant, name: str, phrase: str, facts: Facts, part: str, *needs: Need, **options: Any) -> Draft:
    """A draft for one slice, asked in the week of most questions unless a time is given."""
    return Draft(tenant, name, phrase, facts, part, needs, **{"time": _asked_on(tenant), **options})


def _of_document(tenant: Tenant, name: str, written: Written, mark: str, part: str, **options: Any) -> Draft:
    """A question about one passage, in the words that belong to what it says."""
    return _draft(tenant, name, mark, written.facts, part, _need(written, mark), **options)


def _frequent(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """What is asked every week: memory, timeouts and restarts of the main service, and how to be on call."""
    first, handbook = tenant.services[0], library.of(tenant, "handbook")
    runbook = library.runbook(tenant, first)
    mark = ("heap", "drain", "timeout")[tenant.place % 3]
    also = [(handbook, mark)] if mark in handbook.marks else []  # either document is enough
    yield _draft(tenant, f"{first.name}.{mark}", mark, first.facts, "frequent", _need(runbook, mark, *also))
    if tenant.place % 2 == 0:
        mark = ("vpn", "ack")[tenant.place // 2 % 2]
        yield _of_document(tenant, mark, handbook, mark, "frequent")


def _long_tail(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """What is asked once a year, of the services that hardly anybody looks at."""
    second, third = tenant.services[1:]
    mark = ("pause", "token", "port", "rate", "retention", "batch", "nightly", "page")[tenant.place % 8]
    if mark in ("token", "rate", "batch", "page"):
        yield _of_document(tenant, f"{second.name}.{mark}", library.of(tenant, f"{second.name}.api"), mark, "long_tail")
    else:
        yield _of_document(tenant, f"{third.name}.{mark}", library.runbook(tenant, third), mark, "long_tail")


def _identifiers(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """Error codes whose neighbours differ in one digit, and settings by their full name."""
    first, second, third = tenant.services
    yield _code(library, tenant, first)
    if tenant.place % 2:
        yield _code(library, tenant, third)
    if tenant.place % 3 == 1:
        runbook = library.runbook(tenant, second)
        facts, need = {"key": second.facts["key_pool"]}, _need(runbook, "pool")
        yield _draft(tenant, f"{second.name}.setting", "setting", facts, "exact_identifier", need)


def _code(library: Library, tenant: Tenant, service: Service) -> Draft:
    code, need = _listed_code(library, tenant, service, "code asked")
    return _draft(tenant, f"{service.name}.code", "code", {"code": code}, "exact_identifier", need)


def _listed_code(library: Library, tenant: Tenant, service: Service, draw: str) -> tuple[str, Need]:
    """One of the codes of a service, and the line that says what it means."""
    errors = library.of(tenant, f"{service.name}.errors")
    place = tenant.draws.below(LISTED_CODES, service.name, draw)
    code = error_codes(tenant, service)[0][place]
    point = phrases(tenant.language)["claims"]["code"].format_map(errors.facts["codes"][code])
    return code, Need("code", ((errors, f"code_{place}"),), point)


def _ambiguous(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """A question that names no service: a right answer tells the three apart."""
    needs = (_of_service(_need(library.runbook(tenant, service), "pool"), service) for service in tenant.services)
    yield _draft(tenant, "connections", "ambiguous", {}, "ambiguous", *needs)


def _of_service(need: Need, service: Service) -> Need:
    return replace(need, name=f"{need.name} of {service.name}", point=f"{service.name}: {need.point}")


def _multi_hop(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """Two documents, neither of which is enough: what was to blame and its value today; whose code, and their team."""
    incident, runbook = library.of(tenant, "incident"), library.runbook(tenant, tenant.services[0])
    needs = _need(incident, "cause"), _need(runbook, incident.facts["blamed"])
    yield _draft(tenant, "incident.setting", "hop_setting", incident.facts, "multi_hop", *needs)
    if tenant.place % 3 == 2:
        yield _owner_of_code(library, tenant)


def _owner_of_code(library: Library, tenant: Tenant) -> Draft:
    service, owners = tenant.services[2], library.of(tenant, "owners")
    code, meaning = _listed_code(library, tenant, service, "code of owner")
    owner = phrases(tenant.language)["claims"]["owner"].format_map(service.facts)
    needs = meaning, Need("owner", ((owners, "owner_c"),), owner)
    return _draft(tenant, "code.owner", "hop_owner", {"code": code}, "multi_hop", *needs)


def _fresh(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """What changed days ago, what was announced days ago, and what was true before a change."""
    first, second = tenant.services[:2]
    if tenant.place % 3 == 0:
        runbook = library.runbook(tenant, first)
        time = (runbook.document.valid_from or NOW) + timedelta(days=1, hours=10)
        yield _of_document(tenant, f"{first.name}.pool.new", runbook, "pool", "fresh", time=time)
    elif tenant.place % 3 == 1:
        notice = library.of(tenant, "notice")
        mark = "change" if tenant.place % 2 else "freeze"
        yield _of_document(tenant, f"notice.{mark}", notice, mark, "fresh")
    else:
        runbook = library.runbook(tenant, second, back=1)
        time = (runbook.document.valid_until or NOW) - timedelta(days=5)
        yield _of_document(tenant, f"{second.name}.pool.before", runbook, "pool", "fresh", time=time)


def _permissions(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """The same restricted document, asked by the role that may read it and by one that may not."""
    kind, role = tenant.restricted
    written = library.of(tenant, kind)
    point = phrases(tenant.language)["claims"][kind].format_map(written.facts)
    need = Need("price", ((written, "price"),), point)
    if tenant.place % 2 == 0 or tenant.place % 5 == 0:
        yield _draft(tenant, f"{kind}.allowed", kind, written.facts, "permissions", need, role=role)
    if tenant.place % 2 or tenant.place % 4 == 0:
        yield _draft(tenant, f"{kind}.denied", kind, written.facts, "permissions", need, refused=True)


def _other_tenant(library: Library, tenant: Tenant, other: Tenant) -> Iterator[Draft]:
    """What another tenant's incident review says is no business of this one."""
    if tenant.place % 4 == 2:
        incident = library.of(other, "incident")
        yield _of_document(tenant, "incident.of-another", incident, "duration", "permissions", refused=True)


def _injected(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """The answer stands in a ticket that also holds an instruction to whoever reads it."""
    if tenant.has_ticket:
        yield _of_document(tenant, "ticket.fix", library.of(tenant, "ticket"), "fix", "injection")


def _unanswerable(tenant: Tenant) -> Iterator[Draft]:
    """A code that nobody listed, a service of others, an incident that never was, a topic that nobody wrote about."""
    services, first = catalogue("tenants")["services"], tenant.services[0]
    phrase = ("nobody_code", "nobody_owner", "nobody_incident", "nobody_topic")[tenant.place % 4]
    facts = {
        "code": error_codes(tenant, first)[1][0],
        "service": services[(5 * tenant.place + 1) % len(services)][0] if phrase == "nobody_owner" else first.name,
        "incident": f"INC-2026-{2000 + 17 * tenant.place + tenant.draws.below(17, 'incident', 'number')}",
    }
    yield _draft(tenant, phrase.replace("_", "."), phrase, facts, "no_answer", refused=True)


def _across_languages(library: Library, tenant: Tenant) -> Iterator[Draft]:
    """English questions to those who write in another language."""
    if tenant.language != "en":
        service = tenant.services[1]
        runbook, mark = library.runbook(tenant, service), ("heap", "timeout", "drain")[tenant.place % 3]
        name = f"{service.name}.{mark}.in-english"
        yield _of_document(tenant, name, runbook, mark, "cross_language", language="en")


def _guides(library: Library, readers: Sequence[Tenant]) -> Iterator[Draft]:
    """The platform's guides, each asked by one tenant of many that may read it."""
    for place, guide in enumerate(catalogue("platform")["guides"]):
        tenant, written = readers[3 * place], library.guide(guide["name"])
        need = Need("fact", ((written, "fact"),), guide["point"])
        asked = tuple(guide["questions"])
        yield _draft(tenant, f"guide.{guide['name']}", "", {}, "frequent", need, phrasings=asked)
