package setting

import "fmt"

// An InputError is an input that asks for what cannot be. Nothing was changed.
type InputError struct{ Err error }

// Bad makes one, which names the input.
func Bad(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

// Error is the cause alone.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *InputError) Unwrap() error { return e.Err }
