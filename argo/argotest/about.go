package argotest

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/protobuf/types/known/emptypb"
)

// versionService answers as the release does whose code this package is built with.
type versionService struct{}

func (versionService) Version(context.Context, *emptypb.Empty) (*version.VersionMessage, error) {
	return &version.VersionMessage{
		Version: "v2.14.21", GitTreeState: "clean", Compiler: "gc", Platform: "linux/amd64", KustomizeVersion: "v5.4.3",
	}, nil
}

// settingsService answers as a server does that nobody has configured.
type settingsService struct {
	settings.UnimplementedSettingsServiceServer
}

func (*settingsService) Get(context.Context, *settings.SettingsQuery) (*settings.Settings, error) {
	return &settings.Settings{
		AppLabelKey: instanceLabel, ControllerNamespace: "argocd", KustomizeOptions: &v1alpha1.KustomizeOptions{},
		GoogleAnalytics: &settings.GoogleAnalyticsConfig{AnonymizeUsers: true}, Help: &settings.Help{}, PasswordPattern: "^.{8,32}$",
	}, nil
}
