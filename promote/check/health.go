package check

// serviceHealth is a health check for argocd-cm that knows the generation. A
// Service that has not been looked at since it was changed is Progressing. So
// is one whose route does not know a new revision yet, which Knative calls
// False for a moment (https://github.com/knative/serving/issues/4173).
const serviceHealth = `  resource.customizations.health.serving.knative.dev_Service: |
    local health = {status = "Progressing", message = "Waiting for Knative"}
    if obj.status ~= nil and obj.status.observedGeneration == obj.metadata.generation then
      for _, c in ipairs(obj.status.conditions or {}) do
        if c.type == "Ready" and c.status ~= "Unknown" and c.reason ~= "RevisionMissing" then
          health = {status = c.status == "True" and "Healthy" or "Degraded", message = c.message}
        end
      end
    end
    return health
`

// childHealth is the same for a KIND that Knative makes of a Service. An old
// Revision has no traffic and is Ready all the same.
const childHealth = `  resource.customizations.health.serving.knative.dev_KIND: |
    local health = {status = "Progressing", message = "Waiting for Knative"}
    if obj.status ~= nil and obj.status.observedGeneration == obj.metadata.generation then
      for _, c in ipairs(obj.status.conditions or {}) do
        if c.type == "Ready" and c.status ~= "Unknown" then
          health = {status = c.status == "True" and "Healthy" or "Degraded", message = c.message}
        end
      end
    end
    return health
`
