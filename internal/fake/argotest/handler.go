package argotest

import (
	"net/http"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/account"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/project"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/session"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
)

// maxMessage is Argo CD's own limit for a message, in bytes.
const maxMessage = 200 << 20

// handler serves the services as gRPC over HTTP/2 and as grpc-web over HTTP/1.1, which is all that
// Argo CD's own listener tells apart: everything else over HTTP/2 that claims to be gRPC is taken
// for native gRPC.
func (s *Server) handler(config Config) http.Handler {
	guard := guard{token: config.Token, faults: s.faults}
	server := grpc.NewServer(
		grpc.UnaryInterceptor(guard.unary), grpc.StreamInterceptor(guard.stream),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
	)
	denied := rights(config.Denied)
	application.RegisterApplicationServiceServer(server, &applications{server: s, rights: denied})
	version.RegisterVersionServiceServer(server, versionService{})
	settings.RegisterSettingsServiceServer(server, &settingsService{overrides: config.Overrides, guard: guard})
	session.RegisterSessionServiceServer(server, &sessionService{guard: guard})
	account.RegisterAccountServiceServer(server, &accountService{rights: denied})
	project.RegisterProjectServiceServer(server, &projectService{projects: s.projects, rights: denied})
	web := grpcweb.WrapServer(server)
	route := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
			server.ServeHTTP(w, r)
		case web.IsGrpcWebRequest(r):
			web.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}
	return http.StripPrefix(strings.TrimSuffix(config.RootPath, "/"), http.HandlerFunc(route))
}
