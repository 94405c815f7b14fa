package knative

import (
	"slices"
	"testing"
)

// TestPair has containers of two versions, and which of them belong together.
func TestPair(t *testing.T) {
	t.Parallel()
	app, proxy := occupant{name: "app", image: "acme/app:v1"}, occupant{name: "proxy", image: "acme/proxy:v5"}
	bare := func(image string) occupant { return occupant{image: image} }
	for name, test := range map[string]struct {
		is, then []occupant
		named    bool
		want     []int
		err      string
	}{
		"in another order":            {[]occupant{proxy, app}, []occupant{app, proxy}, true, []int{1, 0}, ""},
		"in another order, unnamed":   {[]occupant{proxy, app}, recorded([]string{"acme/app:v1", "acme/proxy:v5"}, nil), false, []int{1, 0}, ""},
		"a new one in front":          {[]occupant{proxy, bare("acme/app:v2")}, []occupant{bare("acme/app:v1")}, true, []int{-1, 0}, ""},
		"a new one, recorded":         {[]occupant{proxy, bare("acme/app:v2")}, recorded([]string{"acme/app:v1"}, nil), false, []int{-1, 0}, ""},
		"one is gone":                 {[]occupant{app}, []occupant{proxy, app}, true, []int{1}, ""},
		"the registry has moved":      {[]occupant{bare("mirror/app:v2")}, []occupant{bare("acme/app:v1")}, true, []int{0}, ""},
		"moved, beside a sidecar":     {[]occupant{proxy, {name: "app", image: "mirror/app:v2"}}, []occupant{app, proxy}, true, []int{1, 0}, ""},
		"another name":                {[]occupant{{name: "main", image: "acme/app:v2"}, proxy}, []occupant{app, proxy}, true, []int{0, 1}, ""},
		"another sidecar":             {[]occupant{app, {name: "envoy", image: "acme/envoy:v1"}}, []occupant{app, proxy}, true, []int{0, -1}, ""},
		"init containers apart":       {[]occupant{app, {name: "app", image: "acme/app:v1", init: true}}, recorded([]string{"acme/app:v1"}, []string{"acme/app:v1"}), false, []int{0, 1}, ""},
		"two of one image":            {[]occupant{{name: "b", image: "acme/app:v1"}, {name: "a", image: "acme/app:v1"}}, []occupant{{name: "a", image: "acme/app:v1"}, {name: "b", image: "acme/app:v1"}}, true, []int{1, 0}, ""},
		"moved and recorded":          {[]occupant{proxy, {name: "app", image: "mirror/app:v2"}}, recorded([]string{"acme/app:v1", "acme/proxy:v5"}, nil), false, nil, "whether the container that runs mirror/app:v2 is the one that ran acme/app:v1 cannot be told"},
		"two of one image, recorded":  {[]occupant{{name: "b", image: "acme/app:v1"}, {name: "a", image: "acme/app:v1"}}, recorded([]string{"acme/app:v1", "acme/app:v0"}, nil), false, []int{0, 1}, ""},
		"another image of one, again": {[]occupant{bare("acme/other:v1")}, recorded([]string{"acme/app:v1"}, nil), false, []int{0}, ""},
	} {
		got, err := pair(test.is, test.then, test.named)
		if test.err == "" && (err != nil || !slices.Equal(got, test.want)) || test.err != "" && (err == nil || err.Error() != test.err) {
			t.Errorf("%s: got %v, %v; want %v, %s", name, got, err, test.want, test.err)
		}
	}
}
