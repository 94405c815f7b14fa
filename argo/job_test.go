package argo

import (
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

func TestNewestJob(t *testing.T) {
	t.Parallel()
	job := func(minute string) v1alpha1.ResourceNode {
		return v1alpha1.ResourceNode{ResourceRef: v1alpha1.ResourceRef{Name: "smoke-26112308" + minute, UID: minute}}
	}
	type nodes = []v1alpha1.ResourceNode
	for name, test := range map[string]struct {
		jobs, known nodes
		want        string
	}{
		"none":             {nil, nil, ""},
		"nothing new":      {nodes{job("01")}, nodes{job("01")}, ""},
		"new":              {nodes{job("01"), job("02")}, nodes{job("01")}, "smoke-2611230802"},
		"known one gone":   {nodes{job("02")}, nodes{job("01")}, "smoke-2611230802"},
		"one is seen late": {nodes{job("01"), job("03"), job("02")}, nodes{job("01")}, "smoke-2611230803"},
	} {
		if got := newest(test.jobs, test.known); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
