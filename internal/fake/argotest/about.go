package argotest

import (
	"context"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/account"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/session"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// versionService answers as the release does whose code this package is built with.
type versionService struct{}

func (versionService) Version(context.Context, *emptypb.Empty) (*version.VersionMessage, error) {
	return &version.VersionMessage{
		Version: "v2.14.21", GitTreeState: "clean", Compiler: "gc", Platform: "linux/amd64", KustomizeVersion: "v5.4.3",
	}, nil
}

// settingsService answers as a server does of whose settings only the resource customizations were
// changed.
type settingsService struct {
	settings.UnimplementedSettingsServiceServer
	overrides map[string]v1alpha1.ResourceOverride
	guard     guard
}

// Get answers everybody, and tells who is logged in more.
func (s *settingsService) Get(ctx context.Context, _ *settings.SettingsQuery) (*settings.Settings, error) {
	overrides := map[string]*v1alpha1.ResourceOverride{
		// what 2.14 adds by itself
		"apiextensions.k8s.io/CustomResourceDefinition": {
			IgnoreDifferences: v1alpha1.OverrideIgnoreDiff{JSONPointers: []string{"/status", "/spec/preserveUnknownFields"}},
		},
	}
	for key, override := range s.overrides {
		overrides[key] = override.DeepCopy()
	}
	answer := &settings.Settings{
		AppLabelKey: instanceLabel, KustomizeOptions: &v1alpha1.KustomizeOptions{BuildOptions: "--load-restrictor LoadRestrictionsNone"}, ResourceOverrides: overrides,
		GoogleAnalytics: &settings.GoogleAnalyticsConfig{AnonymizeUsers: true}, Help: &settings.Help{},
	}
	if s.guard.loggedIn(ctx) {
		answer.ControllerNamespace, answer.PasswordPattern = "argocd", "^.{8,32}$"
	}
	return answer, nil
}

// sessionService tells whose token it is.
type sessionService struct {
	session.UnimplementedSessionServiceServer
	guard guard
}

// GetUserInfo tells nothing of a token that is not taken.
func (s *sessionService) GetUserInfo(ctx context.Context, _ *session.GetUserInfoRequest) (*session.GetUserInfoResponse, error) {
	if !s.guard.loggedIn(ctx) {
		return &session.GetUserInfoResponse{}, nil
	}
	return &session.GetUserInfoResponse{LoggedIn: true, Username: user, Iss: "argocd"}, nil
}

// accountService answers what the token may do.
type accountService struct {
	account.UnimplementedAccountServiceServer
	rights rights
}

// CanI knows no objects: what is denied is denied for all.
func (s *accountService) CanI(_ context.Context, question *account.CanIRequest) (*account.CanIResponse, error) {
	actions := []string{"get", "create", "update", "delete", "sync", "override", "action", "invoke"}
	if !slices.Contains(actions, question.Action) {
		return nil, status.Errorf(codes.InvalidArgument, "%v does not contain %s", actions, question.Action)
	}
	resources := []string{"applications", "projects"}
	if !slices.Contains(resources, question.Resource) {
		return nil, status.Errorf(codes.InvalidArgument, "%v does not contain %s", resources, question.Resource)
	}
	answer := "yes"
	if s.rights.check(question.Resource, question.Action, question.Subresource) != nil {
		answer = "no"
	}
	return &account.CanIResponse{Value: answer}, nil
}
