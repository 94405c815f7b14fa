package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Question{
		"/":                       {{Path: "/", Status: true, Count: 20}},
		"/a?x=1 count=50":         {{Path: "/a?x=1", Status: true, Count: 50}},
		"/a json":                 {{Path: "/a", JSON: true, Count: 20}},
		"/a latency<=1.5x,status": {{Path: "/a", Status: true, Latency: 1.5, Count: 20}},
		"\n /a json ignore=at,items[].id \n\n/b count=10 latency<=1x\n": {{Path: "/a", JSON: true, Ignore: []string{"at", "items[].id"}, Count: 20}, {Path: "/b", Latency: 1, Count: 10}},
		example: {{Path: "/api/items", Status: true, Latency: 1.5, JSON: true, Ignore: []string{"generatedAt", "items[].id"}, Count: 20}},
	} {
		got, err := Parse(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: error %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestParseError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" \n":                        "expected a path, such as /api/items status,latency<=1.5x,json count=20",
		"api":                        `"api": expected a path that starts with one slash, such as /api/items`,
		"//host/a":                   `"//host/a": expected a path that starts with one slash`,
		"/a#b":                       `"/a#b": expected a path that starts with one slash`,
		"/a\n/b\n/a json":            "/a is there twice, expected each path once",
		"/a body":                    `"body": "body" is not known: expected status, latency<=FACTORx and json with commas between them, count= or ignore=, such as /api/items`,
		"/a status, json":            `"status,": "" is not known`,
		"/a status json":             `"json": expected what is compared once`,
		"/a json,json":               `"json,json": expected json once`,
		"/a status,status":           `"status,status": expected status once`,
		"/a latency<=2x,latency<=3x": `expected latency once`,
		"/a latency":                 `"latency": expected latency<=FACTORx, such as latency<=1.5x`,
		"/a latency<2x":              `"latency<2x": expected latency<=FACTORx, such as latency<=1.5x`,
		"/a latency<=2":              `"latency<=2": expected a factor from 1x to 1000x, such as latency<=1.5x`,
		"/a latency<=0.5x":           "expected a factor from 1x to 1000x",
		"/a latency<=NaNx":           "expected a factor from 1x to 1000x",
		"/a latency<=1e2x":           "expected a factor from 1x to 1000x",
		"/a latency<=500ms":          "expected a factor from 1x to 1000x",
		"/a count=9":                 `"count=9": expected a whole number from 10 to 200, such as count=20`,
		"/a count=201":               "expected a whole number from 10 to 200",
		"/a count=20 count=30":       `"count=30": expected count once`,
		"/a ignore=x":                "ignore= names fields of the JSON, which is not compared: expected json too",
		"/a json ignore=":            `"ignore=": expected fields from the top of the JSON, with dots between their names, such as ignore=generatedAt,items[].id, but there is ""`,
		"/a json ignore=x,$.y":       `but there is "$.y"`,
		"/x" + "\n/0\n/1\n/2\n/3\n/4\n/5\n/6\n/7\n/8\n/9": "expected 10 paths at most, but there are 11",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%q is %+v, error %v\nwant %s", text, got, err, want)
		}
	}
}

// FuzzParse checks that what is accepted can be asked and judged.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"/", example, "/a\n/b latency<=2x\n", "/a json ignore=[\"x\"].y", "/a count=0x14", "/%zz"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		questions, err := Parse(text)
		if (err == nil) != (len(questions) > 0) || len(questions) > mostQuestions {
			t.Fatalf("%d questions, error %v", len(questions), err)
		}
		for _, q := range questions {
			if q.things() == 0 || q.Count < fewest || q.Count > most || !strings.HasPrefix(q.Path, "/") ||
				q.Latency != 0 && !(q.Latency >= 1 && q.Latency <= highestFactor) || slices.Contains(q.Ignore, "") {
				t.Errorf("accepted %+v", q)
			}
		}
	})
}

// TestFewestRoundsCanFail has all that can be asked, with the fewest rounds: a
// candidate that differs in all of them fails.
func TestFewestRoundsCanFail(t *testing.T) {
	t.Parallel()
	all := float64(mostQuestions * Question{Status: true, Latency: 1, JSON: true}.things())
	if chance := atLeast(fewest, fewest) * all; chance >= falseAlarm {
		t.Errorf("the chance of a difference in all of %d rounds, shared by %g, is %g", fewest, all, chance)
	}
}
