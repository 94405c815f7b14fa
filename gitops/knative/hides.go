package knative

// A Change is what an overlay rendered, and what it renders since.
type Change struct{ Before, After []byte }

// Hides tells whether a change of an overlay hides something of the same change without the tool's own files: an object or a field
// that changes there, and not in the same way in what is rendered with them.
func Hides(shown, plain Change) (bool, error) {
	var objects [4]map[string]object
	for i, text := range [][]byte{shown.Before, shown.After, plain.Before, plain.After} {
		decoded, err := decode(text)
		if err != nil {
			return false, err
		}
		objects[i] = byKey(withoutNotes(decoded))
	}
	for key, was := range objects[2] {
		if hides(objects[0][key], objects[1][key], was, objects[3][key]) {
			return true, nil
		}
	}
	for key, is := range objects[3] {
		if objects[2][key] == nil && hides(objects[0][key], objects[1][key], nil, is) {
			return true, nil
		}
	}
	return false, nil
}

// hides tells the same of one object; nil: it is not there.
func hides(before, after, plainBefore, plainAfter object) bool {
	if plainBefore == nil || plainAfter == nil {
		return !equal(before, plainBefore) || !equal(after, plainAfter)
	}
	for _, field := range differences("", map[string]any(plainBefore), map[string]any(plainAfter)) {
		if !sameAt(field, before, plainBefore) || !sameAt(field, after, plainAfter) {
			return true
		}
	}
	return false
}

// sameAt tells whether two objects have the same at a field.
func sameAt(field string, a, b object) bool {
	then, had := a.value(field)
	now, has := b.value(field)
	return had == has && equal(then, now)
}
