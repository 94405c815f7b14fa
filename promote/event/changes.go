package event

import (
	"encoding/json"

	"github.com/acme/knative-promote/promote/manifest"
)

// maxChanges is the most bytes of the changes in the JSON of a Result. It is an
// output of the action: GitHub drops a long one, and JSON that is cut is none.
const maxChanges = 100 << 10

// change is what changes of one object, as the JSON of a Result says it.
type change struct {
	Object     string           `json:"object"`
	Change     manifest.Change  `json:"change"` // added, changed, removed
	Fields     []manifest.Field `json:"fields"`
	MoreFields int              `json:"more-fields,omitempty"`
}

// changesOf is a difference as JSON, an element for each object, and the number
// of objects for which there is no room. One that is too long loses its fields.
func changesOf(difference manifest.Difference) (shown []json.RawMessage, more int, err error) {
	room := maxChanges
	for i, o := range difference {
		c := change{o.Name, o.Change, append([]manifest.Field{}, o.Fields...), o.MoreFields}
		text, err := json.Marshal(c)
		if err == nil && len(text) > room {
			c.MoreFields += len(c.Fields)
			c.Fields = c.Fields[:0]
			text, err = json.Marshal(c)
		}
		if err != nil {
			return nil, 0, err
		}
		if len(text) > room {
			return shown, len(difference) - i, nil
		}
		shown = append(shown, text)
		room -= len(text) + len(",")
	}
	return shown, 0, nil
}
