package argotest

import (
	"context"
	"net/http"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// maxMessage is Argo CD's own limit for a message, in bytes.
const maxMessage = 200 << 20

// handler serves the services as gRPC over HTTP/2 and as grpc-web.
func (s *Server) handler(token string) http.Handler {
	guard := guard{token: token, faults: s.faults}
	server := grpc.NewServer(
		grpc.UnaryInterceptor(guard.unary), grpc.StreamInterceptor(guard.stream),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
	)
	application.RegisterApplicationServiceServer(server, &applications{server: s})
	version.RegisterVersionServiceServer(server, versionService{})
	web := grpcweb.WrapServer(server)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case web.IsGrpcWebRequest(r):
			web.ServeHTTP(w, r)
		case r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
			server.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// versionService answers as the release does whose code this package is built with.
type versionService struct{}

func (versionService) Version(context.Context, *emptypb.Empty) (*version.VersionMessage, error) {
	return &version.VersionMessage{
		Version: "v2.14.21", GitTreeState: "clean", Compiler: "gc", Platform: "linux/amd64", KustomizeVersion: "v5.4.3",
	}, nil
}
