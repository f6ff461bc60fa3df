# The two commands of the README, and what CI adds. Everything that must be installed is installed here.
.PHONY: quickstart quick test long build lab deps check deny advisories fuzz book nic-bench package static image release clean

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Measures real devices in namespaces of this machine and in the kernel lab, and writes report.html: six minutes at most after the builds.
quickstart: build lab
	$(SUDO) ./target/release/sixbench quickstart

# All tests, also those in real namespaces and virtual machines: they need root, and fail (never skip) without it. Where there is no kernel
# lab they build it.
test: deps
	./scripts/install-dependencies tests
	./scripts/install-axe-core
	./scripts/install-tool cargo-nextest
	./scripts/build-dpdk-shim --require debug
	$(if $(SUDO),CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(SUDO) -E") cargo nextest run --workspace
	cargo test --quiet --doc --workspace

# The tests that need nothing but Rust: no root, no package, no namespace. What they leave out, `make test` has.
quick:
	cargo test --no-fail-fast $(addprefix -p sixbench-,wire stats method analysis plan live siitperf-import fuzz)
	cargo test --no-fail-fast -p sixbench-report -p sixbench-testbed --lib --test report
	cargo test --no-fail-fast -p sixbench-engine --lib
	cargo test --no-fail-fast -p sixbench-conformance -- --skip scapy

build: deps
	cargo build --release
	./scripts/build-dpdk-shim release

# Virtual routers for devices that need kernel modules, such as Jool: one to two minutes, once.
lab: build
	$(SUDO) ./target/release/sixbench lab build

# For the testbed, and for the kernel lab that the tests build.
deps:
	./scripts/install-dependencies
	./scripts/install-dependencies lab

check:
	command -v python3 >/dev/null || ./scripts/install-dependencies
	.ci/check-house
	./scripts/check-links
	cargo fmt --all --check
	# Modules that a macro declares are not found by cargo fmt.
	rustfmt --check --edition 2024 crates/method/src/measures/*.rs
	cargo clippy --workspace --all-targets -- -D warnings

deny:
	./scripts/install-tool cargo-deny
	cargo deny --log-level error check bans licenses sources
	# Without the database it says that nothing was checked, and that is no reason to fail here.
	./scripts/check-advisories || [ $$? = 2 ]

# Known vulnerabilities of the dependencies; fails where the database of RustSec cannot be had (ADVISORY_DB=DIR names a clone of it).
advisories:
	./scripts/install-tool cargo-deny
	./scripts/check-advisories

# What `make test` tries in a short form: what a run of 20,000 trials and 300 short runs leave behind, the delays of 3,000 trials whose receiver loses its core,
# the teardown of every recipe of the lab, and changes of long series. An hour, and nothing else should run.
long: deps
	SIXBENCH_LONG=1 $(if $(SUDO),CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(SUDO) -E") cargo test --release -p sixbench --test long -- --nocapture
	SIXBENCH_LONG=1 $(if $(SUDO),CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(SUDO) -E") cargo test --release -p sixbench-engine --test it delays:: -- --nocapture
	SIXBENCH_LONG=1 $(if $(SUDO),CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(SUDO) -E") cargo test --release -p sixbench-testbed --test it teardown::
	SIXBENCH_RUNS=1000 cargo test --release -p sixbench-stats --lib change:: -- --nocapture

# Looks for inputs on which what reads files and networks fails; docs/FUZZING.md says more. Needs a C++ compiler.
fuzz:
	./scripts/fuzz

# The book of docs/book in target/book, with every link in it checked. mdBook is installed the first time, which takes minutes. PROGRAM is what the pages on
# commands are written with, if it is built already.
book: PROGRAM = target/debug/sixbench
book:
	./scripts/install-mdbook
	$(if $(filter target/debug/sixbench,$(PROGRAM)),cargo build --package sixbench)
	./scripts/build-book $(PROGRAM)
	./scripts/check-links target/book

# The short form of the bench of emulated network cards (docs/LAB.md). Needs mmdebstrap, and Debian's archive the first time.
nic-bench: NICS = igb
nic-bench: SCENARIOS = wire,settings,coalescing,state
nic-bench:
	[ -e "$${SIXBENCH_NICS:-/var/cache/sixbench/nics}/complete" ] || $(SUDO) ./scripts/nic-bench build
	$(SUDO) env SCENARIOS=$(SCENARIOS) ./scripts/nic-bench run "$$(./scripts/build-static debug)" $(NICS)

# A Debian package for this architecture, tried in namespaces of its own.
package: build
	./scripts/install-cargo-deb
	$(SUDO) ./scripts/check-package "$$(./scripts/build-package)"

# A program that needs nothing but the kernel, tried in a root directory that holds nothing else.
static:
	$(SUDO) ./scripts/check-static "$$(./scripts/build-static release)"

# What a release publishes, in target/dist: the static programs of these architectures, of which the other one is cross-compiled and run by QEMU, the Debian
# package of this machine's, the list of their crates, and the SHA-256 of all.
release: ARCHITECTURES = x86_64 aarch64
release: build
	./scripts/install-dependencies release
	./scripts/install-cargo-deb
	./scripts/build-release target/dist $(ARCHITECTURES)

# With Docker, Podman or Buildah, and tried.
image:
	./scripts/build-image

clean:
	cargo clean
