{{- define "sluice.name" -}}
{{- if contains "sluice" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-sluice" (.Release.Name | trunc 33) -}}
{{- end -}}
{{- end -}}

{{- define "sluice.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "sluice.app" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What selects the nodes of a release, and neither its migration nor the nodes of another one. */}}
{{- define "sluice.node" -}}
{{ include "sluice.app" . }}
app.kubernetes.io/component: node
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.app" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The environment of a node. Each value is quoted: it is data, whatever is in it. */}}
{{- define "sluice.settings" -}}
SLUICE_CONFIG: /run/secrets/sluice/settings.json
SLUICE_ROOT_KEY_FILE: /run/secrets/sluice/root-key
SLUICE_DATA: /data/sluice
SLUICE_HOST: 0.0.0.0
SLUICE_ADMIN_HOST: 0.0.0.0
SLUICE_FRONTS: {{ .Values.fronts | quote }}
SLUICE_WORKERS: {{ .Values.workers | quote }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* What the fronts of a node take at their worst, and the rest of it. */}}
{{- define "sluice.memory" -}}
{{- if .Values.resources.limits.memory -}}
{{- .Values.resources.limits.memory -}}
{{- else if eq (toString .Values.fronts) "auto" -}}
{{- fail "fronts: auto wants resources.limits.memory: 3Gi for each front that the cores allow, and 512Mi" -}}
{{- else -}}
{{- printf "%dMi" (add (mul .Values.fronts 3072) 512) -}}
{{- end -}}
{{- end -}}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
