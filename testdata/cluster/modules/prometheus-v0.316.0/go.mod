// Prometheus 3.16, and promtool. It is built with the tags "remove_all_sd netgo": without the first it wants the clients of
// all clouds that it can find targets in, of which HashiCorp's is not to be had. For the same reason it is no tool here:
// go get -tool takes no tags.
module cluster/prometheus-v0.316.0

go 1.26.7

require github.com/prometheus/prometheus v0.316.0
