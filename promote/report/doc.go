// Package report makes the Markdown pages that people read: the comment on a
// pull request and the summary of the job, about a promotion or rollback, about
// what a change of the infra repository does to its overlays, and about what a
// check found.
//
// Every function is pure. Text that comes from elsewhere, such as reasons,
// image names or manifests, is only ever shown inside code, so that it cannot
// become markup, a mention, a link or a marker, and characters that do not
// show are written as escapes.
package report
