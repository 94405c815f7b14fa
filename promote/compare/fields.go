package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is kept of one answer. A path has all names above it, so
// without bounds a mebibyte of JSON could make a gibibyte of paths.
const (
	mostFields  = 1000 // those that come behind them are compared as one
	deepest     = 20   // levels; what is below is compared as a part of the last one
	longestName = 64   // bytes
)

// Names of what is compared like a field, and is none. No path looks so.
const (
	whole   = "the body"
	further = "the further fields"
)

// A value is what stands at a path, as far as it takes to compare it. The
// content is not kept, as it may be a secret.
type value struct {
	kind string // of the last one, where there are several
	sum  uint64
}

// A reader takes JSON apart. Its sums can be compared with those of the same
// reader alone.
type reader struct {
	seed   maphash.Seed
	ignore []string
}

// fields are those of a JSON text, by their paths. The elements of an array
// have one path, and their places count. Numbers are taken as they are written:
// 1 and 1.0 are not the same to every client. What is no JSON has one field.
func (r reader) fields(body []byte) map[string]value {
	if !json.Valid(body) {
		return map[string]value{whole: {kind: "no JSON"}}
	}
	t := text{reader: r, decoder: json.NewDecoder(bytes.NewReader(body)), fields: map[string]value{}}
	t.decoder.UseNumber()
	t.read(place{})
	return t.fields
}

// A text is JSON that is being read.
type text struct {
	reader
	decoder *json.Decoder
	fields  map[string]value
}

// A place is where a value stands.
type place struct {
	path    string
	exact   uint64 // the sum of all names and indexes above it
	depth   int
	ignored bool
}

// read takes the next value, with all that is in it.
func (t *text) read(at place) {
	token, err := t.decoder.Token()
	if err != nil {
		return // it is valid, so it has no end before its end
	}
	at.ignored = at.ignored || slices.Contains(t.ignore, at.path)
	switch token {
	case json.Delim('{'):
		t.add(at, "an object", "")
		for t.decoder.More() {
			name, _ := t.decoder.Token()
			t.read(t.below(at, shown(name.(string)), name.(string)))
		}
		_, _ = t.decoder.Token()
	case json.Delim('['):
		t.add(at, "an array", "")
		for i := 0; t.decoder.More(); i++ {
			t.read(t.below(at, "[]", strconv.Itoa(i)))
		}
		_, _ = t.decoder.Token()
	default:
		kind := kindOf(token)
		t.add(at, kind, fmt.Sprint(token))
	}
}

// below is the place of a member or an element.
func (t *text) below(at place, step, exact string) place {
	type sum struct {
		above uint64
		step  string
	}
	at.exact = maphash.Comparable(t.seed, sum{at.exact, exact})
	if at.depth++; at.depth > deepest {
		return at
	}
	if at.path != "" && !strings.HasPrefix(step, "[") {
		step = "." + step
	}
	at.path += step
	return at
}

// add puts a value to its path. Sums are added, so that the order of an object's
// members does not count.
func (t *text) add(at place, kind, content string) {
	type sum struct {
		exact         uint64
		kind, content string
	}
	if at.ignored {
		return
	}
	path := at.path
	if path == "" {
		path = whole
	}
	v, has := t.fields[path]
	if !has && len(t.fields) >= mostFields {
		path = further
		v = t.fields[path]
	}
	t.fields[path] = value{kind, v.sum + maphash.Comparable(t.seed, sum{at.exact, kind, content})}
}

func kindOf(token json.Token) string {
	switch token.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	}
	return "null"
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_@$-]+$`)

// shown is a member's name as it stands in a path: in brackets where it has
// other characters than names mostly have, so that it can break out of no text,
// and can be written as a word of ignore.
func shown(name string) string {
	if len(name) > longestName {
		name = fmt.Sprintf("%.*s#%.8x", longestName-9, name, sha256.Sum256([]byte(name)))
	}
	if plainName.MatchString(name) {
		return name
	}
	return "[" + strings.NewReplacer(" ", `\x20`, ",", `\x2c`, "`", `\x60`).Replace(strconv.QuoteToASCII(name)) + "]"
}
