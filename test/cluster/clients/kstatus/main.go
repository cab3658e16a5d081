// The answer of kstatus, which kubectl wait's sisters, Flux and Argo CD read: one JSON object a line from stdin, one line
// {"status","message"} for each. An object that kstatus cannot judge is answered by its error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type answer struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func judge(line []byte) (answer, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(line); err != nil {
		return answer{}, err
	}
	result, err := status.Compute(&object)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: result.Status.String(), Message: result.Message}, nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		found, err := judge(lines.Bytes())
		if err == nil {
			err = out.Encode(found)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
