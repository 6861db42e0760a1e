// A message with files: the only request whose sending is watched, and which fetch cannot tell about.

/** The answer's status, headers and text stream, once its headers are there. `progress` is told a share from 0 to 1. */
export function send(path, headers, form, progress) {
  const request = new XMLHttpRequest();
  request.open("POST", path);
  Object.entries(headers).forEach(([name, value]) => request.setRequestHeader(name, value));
  request.upload.onprogress = ({ loaded, total }) => progress(total ? loaded / total : 0);
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(new TypeError("the connection broke"));
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      progress(1);
      resolve({ status: request.status, header: (name) => request.getResponseHeader(name), text: textOf(request) });
    };
    request.send(form);
  });
}

function textOf(request) {
  let seen = 0;
  return new ReadableStream({
    start(controller) {
      const more = () => {
        const piece = request.responseText.slice(seen);
        seen += piece.length;
        if (piece) controller.enqueue(piece);
      };
      request.onprogress = more;
      request.onload = () => { more(); controller.close(); };
      request.onerror = () => controller.error(new TypeError("the connection broke"));
    },
    cancel: () => request.abort(),
  });
}
