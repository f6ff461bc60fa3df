# sixbench with the tools of its testbed and the devices that Debian has, in an image that needs no other file. Build and run it (`make image` does the
# first, with Docker, Podman or Buildah):
#   docker build --build-arg COMMIT="$(git log -1 --format='%h %cs')" --tag sixbench .
#   docker run --rm --privileged --volume "$PWD/results:/results" sixbench quickstart
# Namespaces, veth pairs and sysctls need --privileged; capabilities alone leave /proc/sys read-only.
FROM docker.io/library/rust:1.95-bookworm AS build
WORKDIR /source
# By itself, so that the packages are not installed again after each change of the source.
COPY scripts/install-dependencies /tmp/
RUN /tmp/install-dependencies && rm -rf /var/lib/apt/lists/*
COPY . .
# The context has no git directory that says which commit this is.
ARG COMMIT=
RUN rm -f rust-toolchain.toml && SIXBENCH_COMMIT="$COMMIT" cargo build --release --locked --package sixbench && \
    ./scripts/build-dpdk-shim --require release && \
    strip target/release/sixbench target/release/libsixbench-dpdk.so

FROM docker.io/library/debian:bookworm-slim
COPY scripts/install-dependencies /tmp/
RUN /tmp/install-dependencies && rm -rf /var/lib/apt/lists/* /tmp/install-dependencies
COPY --from=build /source/target/release/sixbench /usr/bin/
COPY --from=build /source/target/release/libsixbench-dpdk.so /usr/lib/sixbench/
WORKDIR /
ENTRYPOINT ["sixbench"]
CMD ["--help"]
