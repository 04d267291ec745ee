package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// A tfJob is a TFJob of Kubeflow. Its type is not in k8s.io/api, but the type of its
// pods is.
type tfJob struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		RunPolicy struct {
			CleanPodPolicy string `json:"cleanPodPolicy"`
			BackoffLimit   *int32 `json:"backoffLimit"`
		} `json:"runPolicy"`
		Replicas map[string]struct {
			Replicas      int32                `json:"replicas"`
			RestartPolicy string               `json:"restartPolicy"`
			Template      core.PodTemplateSpec `json:"template"`
		} `json:"tfReplicaSpecs"`
	} `json:"spec"`
}

// A trainJob is a TrainJob of Kubeflow. It has no pods of its own.
type trainJob struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		RuntimeRef struct {
			Name string `json:"name"`
		} `json:"runtimeRef"`
		Trainer struct {
			Image            string                    `json:"image"`
			Command          []string                  `json:"command"`
			Args             []string                  `json:"args"`
			NumNodes         int32                     `json:"numNodes"`
			NumProcPerNode   int32                     `json:"numProcPerNode"`
			ResourcesPerNode core.ResourceRequirements `json:"resourcesPerNode"`
			Env              []core.EnvVar             `json:"env"`
		} `json:"trainer"`
	} `json:"spec"`
}

// A manifest is the content of a file of deploy.
type manifest struct {
	services []core.Service
	policies []networking.NetworkPolicy
	jobs     []batch.Job
	servers  []apps.Deployment
	tfJobs   []tfJob
	trains   []trainJob
}

// load decodes all documents of a file strictly: unknown fields and duplicate keys are
// errors.
func load(t *testing.T, name string) (m manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range bytes.Split(text, []byte("\n---\n")) {
		var kind meta.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatalf("%s: document %d: %v", name, i, err)
		}
		switch which := kind.APIVersion + " " + kind.Kind; which {
		case "v1 Service":
			m.services = append(m.services, strict[core.Service](t, name, doc))
		case "networking.k8s.io/v1 NetworkPolicy":
			m.policies = append(m.policies, strict[networking.NetworkPolicy](t, name, doc))
		case "batch/v1 Job":
			m.jobs = append(m.jobs, strict[batch.Job](t, name, doc))
		case "apps/v1 Deployment":
			m.servers = append(m.servers, strict[apps.Deployment](t, name, doc))
		case "kubeflow.org/v1 TFJob":
			m.tfJobs = append(m.tfJobs, strict[tfJob](t, name, doc))
		case "trainer.kubeflow.org/v1alpha1 TrainJob":
			m.trains = append(m.trains, strict[trainJob](t, name, doc))
		default:
			t.Errorf("%s: document %d is a %q, which this test does not know", name, i, which)
		}
	}
	return m
}

func strict[T any](t *testing.T, name string, doc []byte) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(doc, &v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return v
}

// TestManifestsStrict verifies that every manifest of Kubernetes in deploy is decoded, and that a
// misspelt field is an error.
func TestManifestsStrict(t *testing.T) {
	files, err := filepath.Glob("../../deploy/kube*/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("deploy has the manifests %v, %v, want four", files, err)
	}
	for _, file := range files {
		m := load(t, strings.TrimPrefix(file, "../../deploy/"))
		if n := len(m.jobs) + len(m.servers) + len(m.tfJobs) + len(m.trains); n != 1 || len(m.policies) != 1 {
			t.Errorf("%s: %d jobs or servers and %d policies, want one of each", file, n, len(m.policies))
		}
	}
	for _, wrong := range []string{"spec: {backoffLimitPerIndx: 1}", "spec: {parallelism: 1, parallelism: 2}", "spec: {parallelism: four}"} {
		var j batch.Job
		if yaml.UnmarshalStrict([]byte(wrong), &j) == nil {
			t.Errorf("%q is taken for a job", wrong)
		}
	}
}

// permanent has the exit codes below 128 of ringtrain (docs/when-it-breaks.md, "Exit codes").
var permanent = []int32{1, 64, 65, 66, 70, 73, 74, 76, 77, 80, 81, 126, 127}

// TestIndexedJob verifies the failure policy of the Indexed Job: one lost rank, which
// ends all pods, does not end the job; a permanent failure does. It also verifies that
// the job's numbers and names are consistent.
func TestIndexedJob(t *testing.T) {
	m := load(t, "kubernetes/job.yaml")
	if len(m.jobs) != 1 || len(m.services) != 2 {
		t.Fatalf("%d jobs and %d services, want one job, and services of its ranks and of its metrics", len(m.jobs), len(m.services))
	}
	spec, service := m.jobs[0].Spec, m.services[0]
	if spec.BackoffLimit != nil || spec.BackoffLimitPerIndex == nil || *spec.BackoffLimitPerIndex < 1 || spec.MaxFailedIndexes == nil || *spec.MaxFailedIndexes != 0 {
		t.Errorf("backoffLimit %v, backoffLimitPerIndex %v, maxFailedIndexes %v, want none, some, 0", spec.BackoffLimit, spec.BackoffLimitPerIndex, spec.MaxFailedIndexes)
	}
	if spec.CompletionMode == nil || *spec.CompletionMode != batch.IndexedCompletion || spec.Template.Spec.RestartPolicy != core.RestartPolicyNever {
		t.Error("backoffLimitPerIndex needs an Indexed Job with restartPolicy Never")
	}
	pod := spec.Template.Spec
	container := pod.Containers[0]
	size := fmt.Sprint(*spec.Completions)
	if fmt.Sprint(*spec.Parallelism) != size || variable(container, "RINGTRAIN_WORLD_SIZE") != size {
		t.Errorf("completions %s, parallelism %d, RINGTRAIN_WORLD_SIZE %s, want one number", size, *spec.Parallelism, variable(container, "RINGTRAIN_WORLD_SIZE"))
	}
	job := m.jobs[0].Name
	if at := variable(container, "RINGTRAIN_RENDEZVOUS"); at != job+"-0."+service.Name+":29400" || pod.Subdomain != service.Name || service.Spec.ClusterIP != core.ClusterIPNone {
		t.Errorf("rendezvous %s, subdomain %s, service %s do not fit", at, pod.Subdomain, service.Name)
	}
	if len(m.policies) != 1 {
		t.Fatalf("%d policies, want one", len(m.policies))
	}
	if service.Spec.Selector["batch.kubernetes.io/job-name"] != job || m.policies[0].Spec.PodSelector.MatchLabels["batch.kubernetes.io/job-name"] != job {
		t.Errorf("service and policy do not select the pods of %s", job)
	}
	testRules(t, spec.PodFailurePolicy.Rules, container.Name)
	testMetrics(t, m.services[1], job, container)
}

// testMetrics verifies that the service of the metrics selects pod 0 of the job, and that all name one port.
func testMetrics(t *testing.T, service core.Service, job string, container core.Container) {
	t.Helper()
	want := map[string]string{"batch.kubernetes.io/job-name": job, "batch.kubernetes.io/job-completion-index": "0"}
	if !maps.Equal(service.Spec.Selector, want) {
		t.Errorf("service %s selects %v, want %v", service.Name, service.Spec.Selector, want)
	}
	port := fmt.Sprint(service.Spec.Ports[0].Port)
	if fmt.Sprint(container.Ports[0].ContainerPort) != port || service.Annotations["prometheus.io/port"] != port || !slices.Contains(container.Args, "--metrics=:"+port) {
		t.Errorf("the service has port %s, the container %v and %v, the annotations %v: want one port", port, container.Ports, container.Args, service.Annotations)
	}
}

// testRules verifies the action for each exit code by the first matching rule.
func testRules(t *testing.T, rules []batch.PodFailurePolicyRule, container string) {
	t.Helper()
	if len(rules) == 0 || rules[0].Action != batch.PodFailurePolicyActionIgnore || len(rules[0].OnPodConditions) != 1 || rules[0].OnPodConditions[0].Type != core.DisruptionTarget {
		t.Errorf("the first rule is not that a disruption counts for nothing")
	}
	for code := int32(1); code < 256; code++ {
		action := batch.PodFailurePolicyActionCount // if no rule matches
		for _, r := range rules {
			if on := r.OnExitCodes; on != nil && on.ContainerName != nil && *on.ContainerName == container && (on.Operator == batch.PodFailurePolicyOnExitCodesOpIn) == slices.Contains(on.Values, code) {
				action = r.Action
				break
			}
		}
		if fails := action == batch.PodFailurePolicyActionFailJob; fails != slices.Contains(permanent, code) || action == batch.PodFailurePolicyActionFailIndex {
			t.Errorf("exit code %d: %s", code, action)
		}
	}
}

func variable(c core.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// TestPodPrivileges verifies that the pods of the manifests have no unnecessary privileges
// and no variables of Services.
func TestPodPrivileges(t *testing.T) {
	pods := map[string]core.PodSpec{
		"Job":        load(t, "kubernetes/job.yaml").jobs[0].Spec.Template.Spec,
		"Deployment": load(t, "kubernetes/serve.yaml").servers[0].Spec.Template.Spec,
	}
	for name, r := range load(t, "kubeflow/tfjob.yaml").tfJobs[0].Spec.Replicas {
		pods["TFJob "+name] = r.Template.Spec
		if r.RestartPolicy != "ExitCode" {
			t.Errorf("%s: restartPolicy is %s, want ExitCode", name, r.RestartPolicy)
		}
	}
	if len(pods) != 4 {
		t.Errorf("%d kinds of pods, want four", len(pods))
	}
	for name, pod := range pods {
		t.Run(name, func(t *testing.T) { testPod(t, pod) })
	}
}

func testPod(t *testing.T, pod core.PodSpec) {
	off := func(b *bool) bool { return b != nil && !*b }
	if !off(pod.EnableServiceLinks) || !off(pod.AutomountServiceAccountToken) {
		t.Error("service links or the token of the account are not off")
	}
	s := pod.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 || s.FSGroup == nil ||
		s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context of the pod is %+v, want a user other than root, fsGroup and RuntimeDefault", s)
	}
	volumes := map[string]core.Volume{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || !off(s.AllowPrivilegeEscalation) || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("security context of %s is %+v, want no escalation, a read-only root, no capabilities", c.Name, s)
		}
		for _, m := range c.VolumeMounts {
			v, ok := volumes[m.Name]
			if !ok {
				t.Errorf("%s is mounted, and is no volume", m.Name)
			}
			if v.Secret != nil && (v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o400) {
				t.Errorf("secret %s may be read by others", m.Name)
			}
			delete(volumes, m.Name)
		}
	}
	for name := range volumes {
		t.Errorf("volume %s is not mounted", name)
	}
}

// TestNetworkPolicies verifies that each policy admits only the pods that it selects, and all to the port of the
// metrics.
func TestNetworkPolicies(t *testing.T) {
	for _, name := range []string{"kubernetes/job.yaml", "kubeflow/tfjob.yaml", "kubeflow/trainjob.yaml"} {
		m := load(t, name)
		if len(m.policies) != 1 {
			t.Errorf("%s: %d policies, want one", name, len(m.policies))
			continue
		}
		p := m.policies[0].Spec
		mine := fmt.Sprint(p.PodSelector)
		if len(p.PodSelector.MatchLabels) == 0 || !slices.Equal(p.PolicyTypes, []networking.PolicyType{networking.PolicyTypeIngress}) || len(p.Ingress) == 0 || len(p.Ingress[0].From) != 1 {
			t.Fatalf("%s: policy is %+v, want a rule for the pods themselves first", name, p)
		}
		var open []string
		for _, rule := range p.Ingress[1:] {
			for _, at := range rule.Ports {
				open = append(open, at.Port.String())
			}
			if len(rule.Ports) == 0 {
				open = append(open, "every port")
			}
		}
		metrics := map[string][]string{"kubernetes/job.yaml": {"9400"}}
		if !slices.Equal(open, metrics[name]) {
			t.Errorf("%s: it lets others in at %v, want %v", name, open, metrics[name])
		}
		from := p.Ingress[0].From[0]
		if from.PodSelector == nil || fmt.Sprint(*from.PodSelector) != mine || from.NamespaceSelector != nil || from.IPBlock != nil {
			t.Errorf("%s: it lets in %+v, want the pods themselves", name, from)
		}
	}
}

// TestServer verifies that Service, policy and probes of the server name its pods and its ports, and that a pod has
// the time that the server takes to end.
func TestServer(t *testing.T) {
	m := load(t, "kubernetes/serve.yaml")
	if len(m.services) != 1 || len(m.servers) != 1 || len(m.policies) != 1 {
		t.Fatalf("%d services, %d servers, %d policies, want one of each", len(m.services), len(m.servers), len(m.policies))
	}
	server, service, policy := m.servers[0], m.services[0].Spec, m.policies[0].Spec
	labels := fmt.Sprint(server.Spec.Template.Labels)
	if fmt.Sprint(server.Spec.Selector.MatchLabels) != labels || fmt.Sprint(service.Selector) != labels || fmt.Sprint(policy.PodSelector.MatchLabels) != labels {
		t.Errorf("deployment, service or policy do not select the pods %s", labels)
	}
	pod := server.Spec.Template.Spec
	c := pod.Containers[0]
	var ports []string
	for i, p := range c.Ports {
		ports = append(ports, p.Name)
		if p.ContainerPort != service.Ports[i].Port || p.ContainerPort != policy.Ingress[0].Ports[i].Port.IntVal {
			t.Errorf("port %s is %d in the pod, %d in the service", p.Name, p.ContainerPort, service.Ports[i].Port)
		}
		if flag := fmt.Sprintf(":%d", p.ContainerPort); !slices.Contains(c.Args, flag) {
			t.Errorf("the arguments %q do not listen on %s", c.Args, flag)
		}
	}
	ready, live := c.ReadinessProbe.HTTPGet, c.LivenessProbe.HTTPGet
	if ready.Path != "/readyz" || live.Path != "/healthz" || !slices.Contains(ports, ready.Port.StrVal) || !slices.Contains(ports, live.Port.StrVal) {
		t.Errorf("probes are %+v and %+v, want /readyz and /healthz of %q", ready, live, ports)
	}
	if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace < 30+5 {
		t.Errorf("terminationGracePeriodSeconds is %v, want the drain of 5 s and 30 s for requests", grace)
	}
}
