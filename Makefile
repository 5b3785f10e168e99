# Thin: every target is one script or one CMake preset.
.PHONY: build demo test bench lint
build:
	@docker/dependencies.sh build
	@cmake --preset release > /dev/null && cmake --build build/release
