package argotest

import (
	"context"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// guard checks every call's token and lets the test's faults happen.
type guard struct {
	token  string
	faults *faults
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := g.check(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := g.check(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, stream)
}

func (g guard) check(ctx context.Context, method string) error {
	if err := g.faults.check(ctx); err != nil {
		return err
	}
	if g.token == "" || forEverybody(method) {
		return nil
	}
	token := bearer(ctx)
	switch {
	case subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1:
		return nil
	case token == "":
		return status.Error(codes.Unauthenticated, "no session information")
	case strings.Count(token, ".") != 2:
		return status.Error(codes.Unauthenticated, "invalid session: token contains an invalid number of segments")
	}
	return status.Error(codes.Unauthenticated, "invalid session: token signature is invalid: signature is invalid")
}

// bearer finds the token where Argo CD's server looks for it: the metadata "token" of its own
// client, the Authorization header, and the cookie of its web page.
func bearer(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, token := range md.Get("token") {
		return token
	}
	for _, header := range md.Get("authorization") {
		if token, found := strings.CutPrefix(header, "Bearer "); found {
			return token
		}
	}
	for _, cookies := range append(md.Get("grpcgateway-cookie"), md.Get("cookie")...) {
		for cookie := range strings.SplitSeq(cookies, ";") {
			if token, found := strings.CutPrefix(strings.TrimSpace(cookie), "argocd.token="); found {
				return token
			}
		}
	}
	return ""
}
