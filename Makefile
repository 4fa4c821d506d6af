# make workbook · make test · make check · make lab · make reference · make verify · make setup; see README.md
PYTHON ?= python3
BIN    := .venv/bin
comma  := ,
# With CI set, the engines, Dask, sentence-transformers and a browser's driver too: a user does not wait for them.
EXTRAS := test,peers$(if $(CI),$(comma)engines$(comma)scale$(comma)models$(comma)browser)
STAMP  := .venv/.installed-$(subst $(comma),-,$(EXTRAS))
JOBS   ?= 2

.PHONY: setup workbook test check exhaustive lab lint reference verify
.DELETE_ON_ERROR:

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	HNSWLIB_NO_NATIVE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e ".[$(EXTRAS)]"
	$(BIN)/python -c "import matplotlib.pyplot, numpy as n, rankwork; [rankwork.topk(n.ones(64, t), 1) for t in ('f4', 'f8')]"
	touch $@

workbook: $(STAMP)
	$(BIN)/rankwork run all --params smoke --jobs $(JOBS) || code=$$?; $(BIN)/rankwork index; exit $${code:-0}

reference: $(STAMP)
	$(BIN)/rankwork reference --renew --jobs $(JOBS)

verify: $(STAMP)
	$(BIN)/rankwork reference --jobs $(JOBS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow and not exhaustive"

test: lint
	$(BIN)/python -m pytest -n $(JOBS) -m "not exhaustive"

exhaustive: $(STAMP)
	$(BIN)/python -m pytest -m exhaustive

lab: $(STAMP)
	$(BIN)/rankwork lab
