# Everything here sets itself up: only python3 (3.11 or later), make and git are needed.

PYTHON ?= python3
BIN := .venv/bin
EXTRAS := engine,fast,metrics,tls,cluster,test
FUZZ_S ?= 60
LOCK := docs/hosting/requirements.lock
SPREAD := $(if $(filter Linux,$(shell uname)),--forks auto,--numprocesses auto --dist loadfile --no-loadscope-reorder)
SEEDS ?= 1000
BENCHMARKS := server instructions restart backup snapshots 'soak --seconds 120' 'flood --rounds 3 --seconds 3' 'flood --cpu' \
    'flood --past' lobby standings games search coach page cluster_bench follower
CUTS ?= 500

.PHONY: cluster site help install install-player install-host demo test proofs check docs page bench fuzz simulate powercuts mutants lowest audit dist release lock sbom clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

install: .venv/installed ## create .venv (1.2 GB) to work on ttt_net: everything, with test tools; LOCKED=1: locked versions, without tests

.venv/installed: pyproject.toml
	$(new-venv)
	@echo "installing into .venv: client, server, compiled engine, cluster, metrics and test tools, which takes a minute or two ..."
	@echo "(about 1.2 GB; make install-player needs 60 MB to play and to host friends, make install-host 400 MB)"
	@$(if $(LOCKED),$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK))
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),--no-deps) --editable '.[$(EXTRAS)]'
	@$(BIN)/python -m ttt_net compile || echo "the engine is compiled when it is first needed"
	@touch .venv/player $@

install-player: .venv/player ## create .venv (60 MB) to play, to write bots and to host friends, without engine and test tools
	@echo "to play: $(PYTHON) client.py"

.venv/player: pyproject.toml
	$(new-venv)
	@echo "installing the client, and a server for friends, into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

install-host: .venv/host ## create .venv (400 MB) for a server: compiled engine, TLS and metrics, without test tools
	@echo "to start the server: $(PYTHON) server.py"

.venv/host: pyproject.toml
	$(new-venv)
	@echo "installing the client and a server with compiled engine, TLS and metrics into .venv, which takes a minute or two ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[host]'
	@$(BIN)/python -m ttt_net compile || echo "the engine is compiled when it is first needed"
	@touch .venv/player $@

define new-venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ttt_net needs Python 3.11 or later, and $(PYTHON) is %s; with another: make $(or $(MAKECMDGOALS),install) PYTHON=python3.12" % sys.version.split()[0])'
@$(PYTHON) -m venv .venv || { echo "cannot make .venv: install the venv module of your Python (on Debian: python3-venv)"; exit 1; }
endef

demo: .venv/player ## play a whole networked match in this terminal
	@$(BIN)/python -m ttt_net demo

test: install ## run all tests except those marked long
	$(BIN)/python -m pytest $(SPREAD) --durations=10

proofs: install ## run the long tests that `make test` omits
	$(BIN)/python -m pytest -m long --numprocesses 2 --dist load --durations=0

check: install ttt_net/web/node_modules ## check format, lint and types, also of the page, which needs npm
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	npm run --silent --prefix ttt_net/web lint
	npm run --silent --prefix ttt_net/web types

docs: install ## write the generated pages of docs/
	$(BIN)/python docs/write_protocol.py
	$(BIN)/python docs/write_page_types.py
	$(BIN)/python docs/write_configuration.py
	$(BIN)/python docs/write_games.py
	$(BIN)/python docs/write_picture.py
	$(BIN)/python docs/write_film.py

site: install ttt_net/web/node_modules ## build the documentation as a site, in build/site; needs npm
	@$(BIN)/python -c 'import mkdocs, mkdocstrings' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	$(BIN)/python docs/write_site.py build/site

page: ttt_net/web/node_modules ## build the page from its sources; needs npm
	node ttt_net/web/build.mjs

ttt_net/web/node_modules: ttt_net/web/package-lock.json
	npm ci --prefix ttt_net/web --no-audit --no-fund
	@touch $@

bench: install ## measure everything in docs/developing/performance.md; an hour or so, each table with load and versions
	@for command in $(BENCHMARKS); do \
	    echo; $(BIN)/python -m benchmarks.meter "$$command" && $(BIN)/python -m benchmarks.$$command \
	        || failed="$$failed, $$command"; \
	done; test -z "$$failed" || { echo "not measured$$failed"; exit 1; }

fuzz: install ## fuzz the parsers of foreign bytes, FUZZ_S seconds per target
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet atheris
	@for target in decode decide text places record; do \
	    $(BIN)/python -m tests.hostile.fuzz $$target -max_total_time=$(FUZZ_S) -rss_limit_mb=1024 || exit 1; done
	@$(BIN)/python -m tests.hostile.differential --seconds $(FUZZ_S)
	@$(BIN)/python -m tests.hostile.walk --seconds $(FUZZ_S)

simulate: install ## run SEEDS=1000 simulated worlds of NODES=1 server [HOT=1], or one with its trace: SEED=42 [SHRINK=1]
	@$(BIN)/python -m tests.simulation $(if $(NODES),--nodes $(NODES)) $(if $(HOT),--hot) $(if $(SEED),--seed $(SEED) $(if $(SHRINK),--shrink),--seeds $(SEEDS) $(if $(FROM),--first $(FROM)))

cluster: install ## stress three nodes and three NATS servers, with players, until Ctrl-C or for SECONDS=60
	@$(BIN)/python -m benchmarks.cluster $(if $(SECONDS),--seconds $(SECONDS))

powercuts: install ## simulate CUTS=500 power cuts of a recorded server, and check every acknowledged move
	@$(BIN)/python -m tests.powercuts --cuts $(CUTS) $(if $(SEED),--seed $(SEED))

mutants: install ## run mutation tests, and list surviving mutants; SINCE=main: changed lines only
	@$(BIN)/python -m tests.mutation $(if $(SINCE),--since $(SINCE))

lowest: ## test players and hosts with the lowest versions that pyproject.toml allows; takes ten minutes, and a C compiler
	$(call with-lowest,player,tests/client tests/sdk tests/test_messages.py tests/end_to_end/test_discovery.py tests/end_to_end/test_encrypted.py)
	$(call with-lowest,host$(comma)cluster$(comma)learn$(comma)data,tests/server --deselect tests/server/cluster/test_releases.py tests/commands tests/strategies/test_engine.py tests/test_environments.py tests/end_to_end/test_cluster.py)

comma := ,
define with-lowest
	@rm -rf build/lowest && $(PYTHON) -m venv build/lowest
	@$(PYTHON) docs/developing/lowest.py $(1) > build/lowest/constraints.txt
	@build/lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/lowest/constraints.txt --editable '.[$(1),test]'
	build/lowest/bin/python -m pytest $(SPREAD) $(2)
endef

audit: install ## check dependencies for known vulnerabilities; needs the Internet
	@$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --strict --skip-editable

dist: install ## build wheel and sdist into dist/, and check them
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*.whl dist/*.tar.gz

release: install ## VERSION=0.2.0: check and build a release with checksums, and print what a person still has to do
	@$(BIN)/python docs/developing/release.py "$(VERSION)"

lock: install ## update the locked versions
	@$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	    --upgrade --extra engine --extra fast --extra metrics --extra tls --extra previews --extra cluster --output-file $(LOCK)

sbom: install ## write the server's bill of materials to dist/sbom.json (CycloneDX)
	@$(BIN)/python -m pip install --quiet cyclonedx-bom
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements $(LOCK) --output-reproducible --output-file dist/sbom.json

clean: ## delete .venv and everything built or measured
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage ttt_net/web/node_modules tests/typed/node_modules
