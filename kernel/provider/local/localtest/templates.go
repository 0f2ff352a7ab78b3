package localtest

// Chat templates, shortened from those of the families but with the same
// results for conversations of text.
const (
	llamaTemplate = `{{- bos_token }}{%- for message in messages %}` +
		`{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}` +
		`{%- endfor %}{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}`

	chatMLTemplate = `{% for message in messages %}` +
		`{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

	mistralTemplate = `{{ bos_token }}{% for message in messages %}` +
		`{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}` +
		`{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}` +
		`{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}`
)
