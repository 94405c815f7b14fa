package knative

// Unusable is why no run could edit what was [Rendered], whatever it wants: the Service is not
// there, its name is that of several, it has a field of a wrong type, or it is not known
// without the tool's own patches. The error wraps [ErrNoService] where it is not there.
func (s *State) Unusable() error {
	if s.unread != nil {
		return s.unread
	}
	_, err := s.Traffic()
	return err
}
