package argo

import (
	"net/http"
	"testing"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// A newerCodec sends what a newer Argo CD adds to an Application.
type newerCodec struct {
	encoding.CodecV2
	more []byte
}

func (c newerCodec) Marshal(v any) (mem.BufferSlice, error) {
	data, err := c.CodecV2.Marshal(v)
	if _, ok := v.(*v1alpha1.Application); ok {
		data = append(data, mem.SliceBuffer(c.more))
	}
	return data, err
}

func (s *apiServer) newerHandler(more []byte) http.Handler {
	server := grpc.NewServer(grpc.ForceServerCodecV2(newerCodec{encoding.GetCodecV2(proto.Name), more}))
	applicationpkg.RegisterApplicationServiceServer(server, s)
	return grpcweb.WrapServer(server)
}

// enabledPolicy is spec.syncPolicy.automated.enabled as Argo CD sends it since 3.1.
func enabledPolicy(value uint64) []byte {
	data := protowire.AppendVarint(protowire.AppendTag(nil, automatedEnabled, protowire.VarintType), value)
	for _, field := range []protowire.Number{policyAutomated, specSyncPolicy, applicationSpec} {
		data = protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), data)
	}
	return data
}

func TestSwitchedOffPolicyIsNone(t *testing.T) {
	t.Parallel()
	automatic := shopApplication()
	automatic.Spec.SyncPolicy = &v1alpha1.SyncPolicy{
		Automated:   &v1alpha1.SyncPolicyAutomated{Prune: true, SelfHeal: true},
		SyncOptions: v1alpha1.SyncOptions{"CreateNamespace=true"},
	}
	for _, test := range []struct {
		name string
		app  *v1alpha1.Application
		more []byte
		want bool
	}{
		{"not told, as by Argo CD 2.14 and 3.0", automatic, nil, true},
		{"on", automatic, enabledPolicy(1), true},
		{"off", automatic, enabledPolicy(0), false},
		{"off, then on", automatic, append(enabledPolicy(0), enabledPolicy(1)...), true},
		{"no policy", shopApplication(), nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := &apiServer{get: func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) { return test.app, nil }}
			app, err := dial(t, server.newerHandler(test.more), nil).application(t.Context(), shop, noRefresh)
			if err != nil {
				t.Fatal(err)
			}
			if got := Automated(app); got != test.want {
				t.Errorf("automated: got %v, want %v", got, test.want)
			}
			if test.app == automatic && len(app.Spec.SyncPolicy.SyncOptions) != 1 {
				t.Errorf("the rest of the policy is gone: %v", app.Spec.SyncPolicy)
			}
		})
	}
}

func TestEachStopsAtWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	whole := enabledPolicy(0)
	for end := range whole {
		if policy := embedded(whole[:end], applicationSpec); policy != nil {
			t.Errorf("cut after %d of %d bytes: got %x", end, len(whole), policy)
		}
	}
}
