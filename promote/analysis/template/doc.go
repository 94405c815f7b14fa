// Package template reads the AnalysisTemplates and ClusterAnalysisTemplates of
// Argo Rollouts and makes of them, and of the values of their arguments, the
// metrics that a run measures. It is pure, and says everything that is wrong with
// them at once.
//
// The fields and their meaning are those of
// https://github.com/argoproj/argo-rollouts/blob/v1.8.5/pkg/apis/rollouts/v1alpha1/analysis_types.go,
// with basicAuth of later versions. The types are our own: those of Argo Rollouts
// bring half a megabyte of what an analysis does not need, and versions that can
// be imported beside Argo CD's end with 1.8.
//
// # Where it differs
//
// What Argo Rollouts finds out when it measures, or never, is an error here before
// the first commit: unknown fields, arguments without a value, limits and counts
// that are no numbers (it takes them for 0), conditions that do not compile. A
// provider that is not there is named, with what to use instead.
package template
