"""What programs do with the official Python client: client.py KUBECONFIG NAMESPACE prints one JSON object, a member a step."""

import json
import sys

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

kubeconfig, namespace = sys.argv[1:]
group, version, plural = "arc.opendefense.cloud", "v1alpha1", "artifacttypes"
config.load_kube_config(kubeconfig)
custom = client.CustomObjectsApi()
place = (group, version, namespace, plural)
seen = {}


def artifact_type(name, template="one", **metadata):
    return {
        "apiVersion": f"{group}/{version}",
        "kind": "ArtifactType",
        "metadata": {"name": name, **metadata},
        "spec": {"workflowTemplateRef": {"name": template}},
    }


def refused(call):
    try:
        call()
    except ApiException as error:
        status = json.loads(error.body)
        return [error.status, status["reason"]]
    return "not refused"


# Discovery, by paths that end in a slash.
seen["version"] = client.VersionApi().get_code().git_version.startswith("v1.")
seen["group"] = [found.name for found in client.ApisApi().get_api_versions().groups if found.name == group]
kinds = custom.get_api_resources(group, version).resources
seen["kinds"] = sorted(found.kind for found in kinds if "/" not in found.name)

# The generated client.
created = custom.create_namespaced_custom_object(*place, artifact_type("a"), field_validation="Strict")
seen["generation"] = created["metadata"]["generation"]
seen["clash"] = refused(lambda: custom.create_namespaced_custom_object(*place, artifact_type("a")))
seen["unknown field"] = refused(
    lambda: custom.create_namespaced_custom_object(
        *place, {**artifact_type("b"), "bogus": 1}, field_validation="Strict"
    )
)
labelled = custom.patch_namespaced_custom_object(*place, "a", {"metadata": {"labels": {"x": "y"}}})
seen["merge patch"] = labelled["metadata"]["labels"]
seen["stale"] = refused(lambda: custom.replace_namespaced_custom_object(*place, "a", created))
labelled["spec"]["workflowTemplateRef"]["name"] = "two"
seen["replace"] = custom.replace_namespaced_custom_object(*place, "a", labelled)["metadata"]["generation"]

# A watch from a list on, and one that resumes where it ended.
listed = custom.list_namespaced_custom_object(*place)
for name in ["b", "c"]:
    custom.create_namespaced_custom_object(*place, artifact_type(name))
custom.delete_namespaced_custom_object(*place, "b", propagation_policy="Background")
watching = watch.Watch()
start = listed["metadata"]["resourceVersion"]
events = []
for event in watching.stream(custom.list_namespaced_custom_object, *place, resource_version=start, timeout_seconds=30):
    events.append(f"{event['type']} {event['object']['metadata']['name']}")
    if len(events) == 3:
        watching.stop()
seen["watch"] = events
custom.delete_namespaced_custom_object(*place, "c")
resumed = watching.stream(
    custom.list_namespaced_custom_object, *place, resource_version=watching.resource_version, timeout_seconds=30
)
event = next(resumed)
watching.stop()
seen["resumed"] = f"{event['type']} {event['object']['metadata']['name']}"

# The dynamic client, which finds kinds by discovery.
types = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version=f"{group}/{version}", kind="ArtifactType")


def apply(manager, template, **options):
    return types.server_side_apply(
        body=artifact_type("d", template), name="d", namespace=namespace, field_manager=manager, **options
    )


seen["apply"] = apply("first", "one").metadata.generation
seen["conflict"] = refused(lambda: apply("second", "two"))
forced = apply("second", "two", force_conflicts=True)
seen["owners"] = sorted(entry.manager for entry in forced.metadata.managedFields)
seen["listed"] = sorted(item.metadata.name for item in types.get(namespace=namespace).items)
gone = custom.delete_collection_namespaced_custom_object(*place)
seen["deleted"] = sorted(item["metadata"]["name"] for item in gone["items"])
seen["left"] = len(custom.list_namespaced_custom_object(*place)["items"])

print(json.dumps(seen))
