package template

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Template is one document of a file.
type Template struct {
	File string // as the input names it
	Kind string // AnalysisTemplate or ClusterAnalysisTemplate
	Name string

	spec spec
}

// document is a template as it is written.
type document struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Spec       spec              `json:"spec"`
}

type spec struct {
	Metrics              []metric    `json:"metrics,omitempty"`
	Args                 []argument  `json:"args,omitempty"`
	DryRun               []rule      `json:"dryRun,omitempty"`
	MeasurementRetention []rule      `json:"measurementRetention,omitempty"`
	Templates            []reference `json:"templates,omitempty"`
}

// metric is a metric as it is written, before its arguments have values.
type metric struct {
	Name                    string              `json:"name"`
	Interval                string              `json:"interval,omitempty"`
	InitialDelay            string              `json:"initialDelay,omitempty"`
	Count                   *intstr.IntOrString `json:"count,omitempty"`
	SuccessCondition        string              `json:"successCondition,omitempty"`
	FailureCondition        string              `json:"failureCondition,omitempty"`
	FailureLimit            *intstr.IntOrString `json:"failureLimit,omitempty"`
	InconclusiveLimit       *intstr.IntOrString `json:"inconclusiveLimit,omitempty"`
	ConsecutiveErrorLimit   *intstr.IntOrString `json:"consecutiveErrorLimit,omitempty"`
	ConsecutiveSuccessLimit *intstr.IntOrString `json:"consecutiveSuccessLimit,omitempty"`
	Provider                provider            `json:"provider"`
}

// provider is where a metric is measured. Of those that are not supported only
// the presence is read.
type provider struct {
	Prometheus *Prometheus     `json:"prometheus,omitempty"`
	Web        *Web            `json:"web,omitempty"`
	Job        *Job            `json:"job,omitempty"`
	Kayenta    json.RawMessage `json:"kayenta,omitempty"`
	Datadog    json.RawMessage `json:"datadog,omitempty"`
	Wavefront  json.RawMessage `json:"wavefront,omitempty"`
	NewRelic   json.RawMessage `json:"newRelic,omitempty"`
	CloudWatch json.RawMessage `json:"cloudWatch,omitempty"`
	Graphite   json.RawMessage `json:"graphite,omitempty"`
	Influxdb   json.RawMessage `json:"influxdb,omitempty"`
	SkyWalking json.RawMessage `json:"skywalking,omitempty"`
	Plugin     json.RawMessage `json:"plugin,omitempty"`
}

// Prometheus is a query.
type Prometheus struct {
	Address        string         `json:"address,omitempty"`
	Query          string         `json:"query,omitempty"`
	Authentication Authentication `json:"authentication,omitzero"`
	Timeout        *int64         `json:"timeout,omitempty"` // in seconds, 30 by default
	Insecure       bool           `json:"insecure,omitempty"`
	Headers        []Header       `json:"headers,omitempty"`
	RangeQuery     *Range         `json:"rangeQuery,omitempty"`
}

// Range makes of a query one over a time. Start and End are expressions such as
// now() - duration("5m").
type Range struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
	Step  string `json:"step,omitempty"`
}

// Web is a request whose answer is the result.
type Web struct {
	Method         string          `json:"method,omitempty"` // GET by default, POST or PUT
	URL            string          `json:"url"`
	Headers        []Header        `json:"headers,omitempty"`
	Body           string          `json:"body,omitempty"`
	TimeoutSeconds int64           `json:"timeoutSeconds,omitempty"` // 10 by default
	JSONPath       string          `json:"jsonPath,omitempty"`       // {$} by default
	Insecure       bool            `json:"insecure,omitempty"`
	JSONBody       json.RawMessage `json:"jsonBody,omitempty"`
	Authentication Authentication  `json:"authentication,omitzero"`

	Connect string `json:"-"` // host:port to connect to instead of the URL's; no template says it
}

// Header is a header of a request.
type Header struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Authentication is how a server is told who asks.
type Authentication struct {
	Sigv4     Sigv4     `json:"sigv4,omitzero"`
	OAuth2    OAuth2    `json:"oauth2,omitzero"`
	BasicAuth BasicAuth `json:"basicAuth,omitzero"`
}

// Sigv4 is Amazon's way, which is not supported.
type Sigv4 struct {
	Region  string `json:"region,omitempty"`
	Profile string `json:"profile,omitempty"`
	RoleARN string `json:"roleArn,omitempty"`
}

// OAuth2 gets a token with client credentials, RFC 6749 section 4.4.
type OAuth2 struct {
	TokenURL     string   `json:"tokenUrl,omitempty"`
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// BasicAuth is a name and a password.
type BasicAuth struct {
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// Job is a Kubernetes Job whose end is the result.
type Job struct {
	Metadata metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec     batchv1.JobSpec   `json:"spec"`
}

// argument is a declared argument.
type argument struct {
	Name      string     `json:"name"`
	Value     *value     `json:"value,omitempty"`
	ValueFrom *valueFrom `json:"valueFrom,omitempty"`
}

type valueFrom struct {
	SecretKeyRef *secretKeyRef `json:"secretKeyRef,omitempty"`
	FieldRef     *fieldRef     `json:"fieldRef,omitempty"`
}

type secretKeyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type fieldRef struct {
	FieldPath string `json:"fieldPath"`
}

// rule names metrics with a regular expression.
type rule struct {
	MetricName string `json:"metricName"`
	Limit      int32  `json:"limit,omitempty"` // of measurementRetention
}

type reference struct {
	TemplateName string `json:"templateName"`
	ClusterScope bool   `json:"clusterScope,omitempty"`
}

// value is a text. Whole numbers and true and false may stand without quotes, as
// in Argo Rollouts' own examples; of other numbers the text is lost in YAML, 1.10
// would be 1.1.
type value string

// UnmarshalJSON reads a text, a whole number, true or false.
func (v *value) UnmarshalJSON(text []byte) error {
	var read any
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	switch r := read.(type) {
	case string:
		*v = value(r)
		return nil
	case bool:
		*v = value(text)
		return nil
	case float64:
		if r == float64(int64(r)) {
			*v = value(fmt.Sprint(int64(r)))
			return nil
		}
	}
	return fmt.Errorf("value: expected a text, but there is %s: write it in quotes", text)
}

// CronJob is the name of the CronJob that a metric with a job starts: the one of
// its job's metadata, or the metric's own.
func (m Metric) CronJob() string {
	if m.Job == nil {
		return ""
	}
	return orElse(m.Job.Metadata.Name, m.Name)
}

// jobStart is how long it may take until a Job runs: the name of its minute may be
// taken, and a pod is not there at once.
const jobStart = 2 * time.Minute

// Timeout is the longest that one measurement takes.
func (m Metric) Timeout() time.Duration {
	switch {
	case m.Web != nil && m.Web.TimeoutSeconds > 0:
		return time.Duration(m.Web.TimeoutSeconds) * time.Second
	case m.Web != nil:
		return 10 * time.Second
	case m.Prometheus != nil && m.Prometheus.Timeout != nil:
		return time.Duration(*m.Prometheus.Timeout) * time.Second
	case m.Job != nil && m.Job.Spec.ActiveDeadlineSeconds != nil:
		return time.Duration(*m.Job.Spec.ActiveDeadlineSeconds)*time.Second + jobStart
	case m.Job != nil:
		return 30 * time.Minute
	}
	return 30 * time.Second
}
