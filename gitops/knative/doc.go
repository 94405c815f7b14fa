// Package knative reads and edits a Knative Service as one kustomize overlay
// renders it.
//
// A State is the overlay of one tree: the Service that it renders, and the
// same Service without the tool's own patches. Edits are pure: they take a
// State and return another one, rendered again, together with the files that
// make the difference. Nothing here reaches the network or a clock.
//
// The tool owns two files of an overlay, both registered as its last patches:
//
//	knative-promote-SERVICE.yaml           the revision's name and the traffic
//	knative-promote-SERVICE.defaults.yaml  what Knative would add to the template's lists
//
// The second one exists because Argo CD applies lists as they stand in Git. A
// commit that only shifts traffic would take Knative's defaults out of the
// containers again, and Knative does not put them back under an unchanged
// revision name, but refuses the change:
// https://github.com/knative/serving/issues/13565
package knative
