# Thin: every target is a script or a CMake preset, so that nothing is known only here.
#   make build   the binary: build/release/driftless
#   make demo    a real MySQL stream into a local Paimon warehouse, explained
#   make test    every test that this machine can run
.PHONY: build demo test sanitize bench lint clean
.DEFAULT_GOAL := build

JOBS ?= $(shell nproc)

build:
	@docker/dependencies.sh build
	@cmake --preset release -DDRIFTLESS_TESTS=OFF >/dev/null
	@cmake --build build/release -j $(JOBS) --target driftless

demo: build
	@docker/demo.sh

test:
	@docker/dependencies.sh build
	@docker/dependencies.sh test
	@cmake --preset release -DDRIFTLESS_TESTS=ON >/dev/null
	@cmake --build build/release -j $(JOBS)
	@tests/run_tests.sh build/release

# AddressSanitizer with UndefinedBehaviorSanitizer, then ThreadSanitizer: unit tests, simulator, one replay.
sanitize:
	@docker/dependencies.sh build
	@tests/run_sanitizers.sh

bench:
	@docker/dependencies.sh build
	@cmake --preset release -DDRIFTLESS_BENCH=ON >/dev/null
	@cmake --build build/release -j $(JOBS)
	@tests/bench/run.sh build/release

lint:
	@docker/dependencies.sh build
	@docker/dependencies.sh lint
	@cmake --preset release -DDRIFTLESS_TESTS=ON >/dev/null
	@tests/tidy/lint.sh build/release

clean:
	@rm -rf build
