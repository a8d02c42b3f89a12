# Everything a contributor runs. Each target sets up what it needs (tools/setup.sh) and is quick when that is done.

SHELL := bash
BIN := .venv/bin
PY := $(BIN)/python
DOCUMENTS ?= 200000
COMMAND_LINES ?= 100000
CALLS ?= 10000
PORT ?= 8420
export PYTHON
# Commands start some hundred times in the tests: without compiled files of what they import they take twice as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo admin test check quick room pages docs receipts proof reference bench peers counterparts conformance judges local hosts fuzz stress clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv, install the package and what the sandbox needs
	@tools/setup.sh

demo: setup ## Watch skills being found, checked, loaded, read and run through MCP
	@$(PY) demo/run.py

admin: setup ## Serve an organisation with sample data, and print the address and a token (PORT=)
	@$(PY) -m tools.serve_sample --port $(PORT)

test: $(if $(ROOM),room setup,quick) ## Run the checks and every test (ROOM=catalog or ROOM=lint/test_rules.py: only these tests)
	@ROOM=$(ROOM) tools/test.sh

room: # Check ROOM before anything else runs
	@ROOM=$(ROOM) tools/test.sh --check-room

check: quick ## Lint, format, types, import contracts, generated pages
	$(BIN)/mypy

quick: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory pages

pages: # Check that the generated pages are up to date
	$(PY) tools/requirements_page.py --check
	$(PY) tools/format_pages.py --check
	$(PY) -m tools.conformance_cases --check
	$(PY) -m tools.decisions --check
	$(PY) -m tools.wrap_pages --check

docs: setup ## Write the generated pages, and build the site in build/site, strictly
	$(PY) tools/requirements_page.py
	$(PY) tools/format_pages.py
	$(PY) tools/screens.py
	$(PY) -m tools.conformance_cases
	$(PY) -m tools.decisions
	$(PY) -m tools.wrap_pages
	$(PY) -m tools.docs_site

conformance: setup ## Put the conformance cases to other people's tools, and write docs/reference/conformance.md
	$(PY) -m tools.conformance_peers

judges: setup ## Put the captured transcripts to other people's judges, and write docs/reference/judges.md
	$(PY) -m tools.verdict_peers

receipts: setup ## Break up to thirty requirements of each milestone, see a test notice each, and write the page
	@$(PY) -m tests.spec.mutation_receipts

proof: setup ## Verify formal/ with Dafny, and compare what was proved with what runs on 195 000 inputs
	@$(PY) -m tools.proof

reference: setup ## Run the reference library's own tests, fetched from the package index, against our shim
	$(PY) tools/run_reference_tests.py --download

bench: setup ## Measure, and compare with what the README states
	$(PY) -m benchmarks

peers: setup ## See other people's clients and servers agree with ours, each in an environment of its own
	@tools/peers.sh

counterparts: setup ## Download registries, clients and libraries of other people, and test packages with them
	@tools/counterparts.sh
	$(BIN)/pytest -q -n 2 tests/distribution

local: setup ## Test the offline model in an environment of its own (127 MB of wheels), run it, and write its page
	@tools/local.sh

hosts: setup ## Install four agents' command lines (1.1 GB), run each through the gateway without a network, capture transcripts in build/hosts (HOSTS=)
	@tools/hosts/run.sh $(HOSTS)

fuzz: setup ## Put 200 000 documents through the parser and 100 000 command lines through bash (DOCUMENTS=, COMMAND_LINES=)
	PROWESS_FUZZ=$(DOCUMENTS) $(BIN)/pytest -q -n 2 -m fuzz tests
	PROWESS_SHELL_FUZZ=$(COMMAND_LINES) $(BIN)/pytest -q -n 2 -m shell_fuzz tests

stress: setup ## Make 10 000 calls on shared sessions, kill 1000 users of an index, edit skills 1000 times, search an odd tree, tamper with exports, kill sequencers, campaigns of evals, replicas and the database (CALLS=)
	PROWESS_STRESS=$(CALLS) $(BIN)/pytest -q tests/runtime/test_crowd.py
	PROWESS_INDEX_KILLS=1000 PROWESS_INDEX_EDITS=1000 PROWESS_ODD_DIRECTORIES=50000 $(BIN)/pytest -q -n 2 \
		tests/catalog/test_index_under_kills.py tests/property/test_index_changes_no_answer.py tests/catalog/test_odd_tree.py
	PROWESS_TAMPERING_PLACES=50 PROWESS_SEQUENCER_KILLS=30 $(BIN)/pytest -q -n 2 \
		tests/audit/transparency/test_exports.py tests/audit/transparency/test_central_log.py
	PROWESS_AUDIT_RECORDS=10000 $(BIN)/pytest -q -n 0 tests/audit/test_log.py
	PROWESS_FAULT_CALLS=$(CALLS) PROWESS_FAULT_KILLS=30 PROWESS_FAULT_STOPS=5 $(BIN)/pytest -q -n 0 tests/governance/test_faults.py
	PROWESS_ISOLATION_STEPS=50000 $(BIN)/pytest -q -n 0 tests/http_server/test_isolation.py
	PROWESS_SCHEMATHESIS_EXAMPLES=50 PROWESS_SCHEMATHESIS_SEEDS=1,2,3 PROWESS_SCHEMATHESIS_PHASES=coverage,fuzzing,stateful \
		$(BIN)/pytest -q -n 0 tests/http_server/test_schemathesis.py
	PROWESS_LEDGER_CAMPAIGNS=20 PROWESS_LEDGER_KILLS=200 PROWESS_LEDGER_CAPS=100 $(BIN)/pytest -q -s -n 0 \
		tests/evals/ledger/test_campaigns_under_kills.py

clean: ## Remove everything that was made here
	rm -rf .venv .cache .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
