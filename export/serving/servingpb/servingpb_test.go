package servingpb

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// theirs returns the lines of testdata/fields.txt, which make_fields.py wrote from TensorFlow Serving's descriptors.
func theirs(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		lines[strings.TrimSpace(line)] = true
	}
	return lines
}

// TestMessagesAreTensorFlowServings verifies that each field, enum value and method of ours is
// one of TensorFlow Serving's, by name, number, label and type.
func TestMessagesAreTensorFlowServings(t *testing.T) {
	known, checked := theirs(t), 0
	check := func(words ...string) {
		checked++
		line := strings.ReplaceAll(strings.Join(words, " "), "ringtrain.tf.", "tensorflow.")
		if !known[line] {
			t.Errorf("TensorFlow Serving has no %q", line)
		}
	}
	seen := map[protoreflect.FullName]bool{}
	var message func(m protoreflect.MessageDescriptor)
	message = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] || m.ParentFile().Package() == "google.protobuf" {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			label, of := "optional", f.Kind().String()
			if f.Cardinality() == protoreflect.Repeated {
				label = "repeated"
			}
			if f.Message() != nil {
				of = string(f.Message().FullName())
				message(f.Message())
			}
			if f.Enum() != nil {
				of = string(f.Enum().FullName())
				for v := range f.Enum().Values().Len() {
					value := f.Enum().Values().Get(v)
					check(of, string(value.Name()), strconv.Itoa(int(value.Number())), "value")
				}
			}
			check(string(m.FullName()), string(f.Name()), strconv.Itoa(int(f.Number())), label, of)
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("tensorflow.serving", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Messages().Len() {
			message(f.Messages().Get(i))
		}
		for i := range f.Services().Len() {
			methods := f.Services().Get(i).Methods()
			for j := range methods.Len() {
				r := methods.Get(j)
				check(string(r.Parent().FullName()), string(r.Name()), string(r.Input().FullName()), string(r.Output().FullName()))
			}
		}
		return true
	})
	if checked < 150 {
		t.Errorf("checked %d lines, want all messages of the package", checked)
	}
}

// TestConfigurationIsWhole verifies that no field of TensorFlow Serving's configuration is missing:
// a name that the text reader does not know would refuse the whole file.
func TestConfigurationIsWhole(t *testing.T) {
	ours := map[protoreflect.FullName]protoreflect.MessageDescriptor{}
	var add func(m protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		ours[m.FullName()] = m
		for i := range m.Fields().Len() {
			if of := m.Fields().Get(i).Message(); of != nil && ours[of.FullName()] == nil {
				add(of)
			}
		}
	}
	add((*ModelServerConfig)(nil).ProtoReflect().Descriptor())
	for line := range theirs(t) {
		words := strings.Fields(line)
		if m := ours[protoreflect.FullName(words[0])]; m != nil && m.Fields().ByName(protoreflect.Name(words[1])) == nil {
			t.Errorf("%s has no %s", words[0], words[1])
		}
	}
	file := `model_config_list { config {
		name: "half" base_path: "/models/half" model_platform: "tensorflow"
		model_version_policy { specific { versions: 3 versions: 5 } }
		version_labels { key: "stable" value: 3 }
		logging_config { log_collector_config { type: "x" } sampling_config { sampling_rate: 0.1 } }
	} }`
	var c ModelServerConfig
	if err := prototext.Unmarshal([]byte(file), &c); err != nil {
		t.Fatal(err)
	}
	model := c.GetModelConfigList().GetConfig()[0]
	if model.GetVersionLabels()["stable"] != 3 || len(model.GetModelVersionPolicy().GetSpecific().GetVersions()) != 2 {
		t.Errorf("the file gives %v", model)
	}
}
