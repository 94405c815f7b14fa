package check

// serviceHealth is a health check for argocd-cm that knows the generation. A
// Service that has not been looked at since it was changed is Progressing. So
// is one whose route does not know a new revision yet, which Knative calls
// False for a moment (https://github.com/knative/serving/issues/4173).
const serviceHealth = `  resource.customizations.health.serving.knative.dev_Service: |
    local health = {status = "Progressing", message = "Knative has not seen this generation yet"}
    if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
      return health
    end
    health.message = "Waiting for conditions"
    for _, condition in ipairs(obj.status.conditions or {}) do
      if condition.type == "Ready" then
        health.message = condition.message or ""
        if condition.status == "True" then
          health.status = "Healthy"
        elseif condition.status == "False" and condition.reason ~= "RevisionMissing" then
          health.status = "Degraded"
        end
      end
    end
    return health
`

// childHealth is the same for a KIND that Knative makes of a Service. An old
// Revision has no traffic and is Ready all the same.
const childHealth = `  resource.customizations.health.serving.knative.dev_KIND: |
    local health = {status = "Progressing", message = "Waiting for conditions"}
    if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
      return health
    end
    for _, condition in ipairs(obj.status.conditions or {}) do
      if condition.type == "Ready" then
        health.message = condition.message or ""
        if condition.status == "True" then
          health.status = "Healthy"
        elseif condition.status == "False" then
          health.status = "Degraded"
        end
      end
    end
    return health
`
