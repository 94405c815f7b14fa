// Package argo asks an Argo CD API server whether one Git commit is live.
//
// [Client.Await] waits for an [Intent]: this commit, in this Application, with this
// revision, these images and this traffic. [Judge] is the pure rule behind it. Argo
// CD's own words "Synced" and "Healthy" are not enough: its health check of a Knative
// Service does not compare status.observedGeneration with metadata.generation
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/resource_customizations/serving.knative.dev/Service/health.lua),
// so an application is "Healthy" on the conditions from before the sync. Judge therefore
// reads the live Service and the live Revision, which Argo CD hands out to anyone who
// may get the Application.
//
// The Service itself is judged strictly. The health of an Application's other resources
// is not judged at all: a broken neighbour is not this promotion's fault and rolling
// back would not repair it. Of the Application's sync status only what concerns the
// commit counts, see [Judge].
//
// # What a wait costs
//
// A wait looks every two seconds, and every ten while nothing happens and
// the stream of the Application's events is open, unless what it waits for is a change of
// the live objects that Argo CD has nothing to store of, see announced.
//
// # The connection
//
// The calls are made by argo-cd's own generated clients, but not over its
// apiclient.NewClient. That one drops extra headers over gRPC
// (https://github.com/argoproj/argo-cd/issues/4918), ignores HTTPS_PROXY
// (https://github.com/argoproj/argo-cd/issues/10180), replaces its own retry
// interceptors (https://github.com/argoproj/argo-cd/blob/v2.14.21/pkg/apiclient/apiclient.go#L523-L526),
// loses errors that arrive in grpc-web trailers
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/pkg/apiclient/grpcproxy.go#L82-L163),
// reserves gigabytes for a login page, sends the token after redirects, reads
// ~/.config/argocd, and calls without a deadline. Here a *grpc.ClientConn that never
// dials hands every call to connect, which sends it as grpc-web over an ordinary
// http.Transport.
package argo
