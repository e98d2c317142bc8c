# Every command for users and CI. Results go to build/, runs to runs/.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The Rust target directory is in the home cache, so that a second checkout need not build everything again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/tachograph/target
export TACHO_HOME := $(CURDIR)/build
export TACHO_VENV := $(CURDIR)/build/venv
# Without a number, make would start a compiler for each file.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

PACKAGES_BUILD := build-essential cmake python3 python3-venv python3-dev libpython3.11 ca-certificates iproute2
# ROS 1 for the plugin ros1, which is left out if these are missing.
PACKAGES_MIDDLEWARE := libroscpp-dev libstd-msgs-dev libsensor-msgs-dev libgeometry-msgs-dev python3-rosmaster
# For the plugin cyber: the library of Cyber RT links to these.
PACKAGES_CYBER := libatomic1 libuuid1
# Cyclone DDS 11 is built from source, on iceoryx if it is installed; 0.10 serves if that fails.
PACKAGES_CYCLONEDDS := iceoryx libiceoryx-posh-dev libiceoryx-hoofs-dev cyclonedds-dev cyclonedds-tools
# For the tasks of perception: the libraries of PCL and OpenCV that they use, without the trees of their -dev packages,
# whose headers setup/perception unpacks beside.
PACKAGES_LIDAR := libeigen3-dev libboost-dev libpcl-filters1.13 libpcl-segmentation1.13 libpcl-registration1.13
PACKAGES_CAMERA := libopencv-dnn406 libopencv-video406 libturbojpeg0-dev
PACKAGES_MICRO := gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
PACKAGES_AARCH64 := gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static
# libclang-rt-14-dev holds the sanitizers of Debian 12's clang, which only recommends it.
PACKAGES_TEST := iputils-ping liblttng-ust-dev lttng-tools babeltrace2 chromium $(PACKAGES_MICRO) iproute2 clang libclang-rt-14-dev tshark libfastrtps-dev liblwip-dev libnodeletlib-dev python3-roslaunch skopeo

.PHONY: help build docs dist dist-aarch64 middleware perception demo drive micro micro-demo test bench fresh clean setup web native plugins rust

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: native rust ## one driving chain on real ROS 2: measured, explained, tuned, proved (runs/demo)
	@workloads/demo

drive: native rust ## a car drives on real ROS 2, with real perception, untuned and tuned (runs/drive/report.html)
	@$(MAKE) --no-print-directory perception || echo "drive: continuing without tasks of perception" >&2
	@workloads/drive-demo

build: middleware ## everything a user needs, under build/: build/tacho, build/lib, build/venv
	@$(MAKE) --no-print-directory native rust plugins
	@$(MAKE) --no-print-directory perception || echo "build: continuing without tasks of perception" >&2
	@if command -v arm-none-eabi-gcc >/dev/null; then $(MAKE) --no-print-directory -s -C micro node; \
	  else echo "build: continuing without build/micro/node.elf, which boards need (host: micro): make micro" >&2; fi
	@echo "build: build/tacho is ready"

setup:
	@setup/debian $(PACKAGES_BUILD)
	@command -v npm >/dev/null || setup/debian nodejs npm
	@setup/rust
	@setup/checkout $(CARGO_TARGET_DIR)
	@mkdir -p build/lib
	@setup/python build/venv setup/ros2-kilted.txt

# What plugins need besides ROS 2. The demo needs only the ROS 2 plugins, so what is not available is left out.
middleware: setup
	@setup/debian $(PACKAGES_MIDDLEWARE) || echo "build: continuing without the middleware of these packages" >&2
	@setup/debian $(PACKAGES_CYCLONEDDS) || echo "build: continuing without these packages of Cyclone DDS" >&2
	@setup/cyclonedds build/cyclonedds || echo "build: continuing without Cyclone DDS 11" >&2
	@setup/debian $(PACKAGES_CYBER) && setup/cyber build/cyber || echo "build: continuing without Cyber RT" >&2
	@setup/python build/venv-connext setup/connext.txt || echo "build: continuing without RTI Connext" >&2

native: setup
	@echo "build: the recorder and the middleware plugins (C, C++)"
	@cmake -S native -B build/native -DTACHO_LIB_DIR=$(CURDIR)/build/lib -DTACHO_VENV=$(TACHO_VENV) >build/native.log \
	  || { cat build/native.log; exit 1; }
	@grep -E 'tacho:' build/native.log || true
	@cmake --build build/native >>build/native.log || { tail -n 50 build/native.log; exit 1; }

plugins: native ## the middleware plugins in Rust (zenoh, iceoryx, dustdds), of which the demo needs none
	@echo "build: the middleware plugins in Rust; the first time takes some minutes"
	@cmake --build build/native --target rust_plugins >build/plugins.log 2>&1 || { tail -n 50 build/plugins.log; exit 1; }

perception: native ## tasks on PCL, small_gicp and OpenCV, with a trained detector and a real video; the demo needs none
	@setup/python build/venv-perception setup/perception.txt || echo "build: continuing without what sets perception up" >&2
	@setup/debian $(PACKAGES_LIDAR) && setup/perception lidar build/perception/lidar || echo "build: continuing without the LiDAR tasks" >&2
	@setup/debian $(PACKAGES_CAMERA) && setup/perception camera build/perception/camera || echo "build: continuing without the camera tasks" >&2
	@echo "build: the tasks of perception (C++); the first time takes about a minute"
	@cmake -S native -B build/native >build/native.log || { cat build/native.log; exit 1; }
	@cmake --build build/native --target perception >build/perception.log 2>&1 || { tail -n 50 build/perception.log; exit 1; }
	@grep -E 'tacho: tasks of' build/native.log || true

web: setup
	@$(MAKE) --no-print-directory build/web/report.html

build/web/report.html: $(shell find web -type f -not -path '*/node_modules/*' 2>/dev/null)
	@echo "build: the report page (TypeScript)"
	@cd web && npm ci --loglevel=error --no-fund --no-audit && npm run --silent build

rust: web
	@echo "build: tacho (Rust); the first time takes some minutes"
	@cargo build --release --locked
	@for program in tacho tacho-node; do setup/program $(CARGO_TARGET_DIR)/release/$$program build/$$program; done
	@for library in tasks_replay node_tasks; do \
	  setup/program $(CARGO_TARGET_DIR)/release/libtacho_$$library.so build/lib/libtacho_$$library.so; done

docs: rust ## the documentation as a site that needs no network (build/docs/index.html)
	@setup/python build/venv-docs setup/docs.txt
	@NO_MKDOCS_2_WARNING=1 build/venv-docs/bin/mkdocs build >build/docs.log 2>&1 || { cat build/docs.log; exit 1; }
	@echo "build: build/docs/index.html is ready"

dist: build ## packages of what make build left (build/dist): tarball, .deb, wheel, OCI image
	@setup/python build/venv-dist setup/build-backend.txt
	@build/venv-dist/bin/python packages/dist

dist-aarch64: build ## the same packages for aarch64, by cross compilation on x86-64
	@setup/debian $(PACKAGES_AARCH64)
	@setup/python build/venv-dist setup/build-backend.txt
	@packages/aarch64 build/venv-dist/bin/python

micro: ## the lightweight DDS: build/micro/*.elf for an emulated Cortex-M4
	@setup/debian build-essential python3 python3-venv $(PACKAGES_MICRO)
	@mkdir -p build
	@setup/python build/venv setup/ros2-kilted.txt
	@echo "build: the lightweight DDS for a Cortex-M4"
	@$(MAKE) --no-print-directory -C micro

micro-demo: micro ## ends with a ROS 2 subscriber printing what the emulated microcontroller says
	@micro/demo

test: build ## everything: unit tests in Rust, C and TypeScript, then end to end on real middleware
	@setup/debian $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory -s -C micro node
	@tests/run

bench: ## our figures beside our peers', in one run (build/bench.json)
	@setup/debian $(PACKAGES_TEST)
	@$(MAKE) --no-print-directory build
	@setup/python build/venv-test setup/test.txt
	@benchmarks/run

fresh: ## each of the targets above from nothing, on a fresh Debian 12 of its own (root; FRESH="demo test" names some)
	@setup/debian debootstrap slirp4netns git
	@setup/fresh $(FRESH)

clean: ## remove what was built and what ran (the Rust cache in the home directory stays)
	rm -rf build runs web/node_modules
