// Package report turns what a promotion did into Markdown: the comment on the
// pull request, the job's summary, and the difference between two rendered
// manifests.
//
// Every function is pure. Text that comes from elsewhere, such as reasons,
// image names or manifests, is only ever shown inside code, so that it cannot
// become markup, a mention, a link or a marker, and characters that do not
// show are written as escapes.
package report
