# Everything is built on the builder's own platform and cross-compiled.
FROM --platform=$BUILDPLATFORM golang:1.26.8@sha256:3c3e25a4da13fd0478eed2df1eb35a0e667094a7124d3993a6a1d30f71c17e79 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X github.com/acme/knative-promote/cmd/internal/version.version=$VERSION" -o /root-fs/knative-promote ./cmd/knative-promote
RUN install -D -m 644 /etc/ssl/certs/ca-certificates.crt /root-fs/etc/ssl/certs/ca-certificates.crt \
 && mkdir -m 1777 /root-fs/tmp

# No USER: the files through which an action gives its outputs belong to root
# (https://docs.github.com/actions/reference/workflows-and-actions/dockerfile-support).
# The program writes no other files; /tmp is there for libraries that expect it.
FROM scratch
# A promotion waits nearly all of its time, so it can afford to collect its memory often: that keeps most of them below
# 100 MiB. So that the promised 256 MiB hold, the collector works harder before they are full.
ENV GOGC=25 GOMEMLIMIT=200MiB
COPY --from=build /root-fs/ /
ENTRYPOINT ["/knative-promote"]
