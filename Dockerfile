# sixbench with the tools of its testbed and the devices that Debian has, in an image that needs no other file. Build and run it:
#   docker build --build-arg COMMIT="$(git log -1 --format='%h %cs')" --tag sixbench .
#   docker run --rm --privileged --volume "$PWD/results:/results" sixbench quickstart
# Namespaces, veth pairs and sysctls need --privileged.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN ./scripts/install-dependencies && rm -rf /var/lib/apt/lists/*
# The context has no git directory that says which commit this is.
ARG COMMIT=
RUN rm -f rust-toolchain.toml && SIXBENCH_COMMIT="$COMMIT" cargo build --release --locked --package sixbench && \
    ./scripts/build-dpdk-shim --require release && \
    strip target/release/sixbench target/release/libsixbench-dpdk.so

FROM debian:bookworm-slim
COPY scripts/install-dependencies /tmp/
RUN apt-get update && /tmp/install-dependencies && rm -rf /var/lib/apt/lists/* /tmp/install-dependencies
COPY --from=build /source/target/release/sixbench /usr/bin/
COPY --from=build /source/target/release/libsixbench-dpdk.so /usr/lib/sixbench/
WORKDIR /
ENTRYPOINT ["sixbench"]
CMD ["--help"]
