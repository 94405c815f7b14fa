// Package analysis runs the AnalysisTemplates of Argo Rollouts without Argo
// Rollouts: it measures their metrics again and again, and says what an
// AnalysisRun would say of them.
//
// # Where it differs from Argo Rollouts
//
//   - A measurement without data ([condition.NoData]) does not count. It is
//     repeated, and a metric that does not get its data in time is Inconclusive.
//   - A metric that was not measured to its end, because another one ended the run
//     or because the run ended, is Skipped. Argo Rollouts calls it Successful.
//   - A metric of whose measurements none was Successful is never Successful,
//     whatever its limits are.
//   - A metric without end is measured for as long as the step bakes, and once
//     more at its end.
//
// What Argo Rollouts would have said stands beside each metric.
package analysis
