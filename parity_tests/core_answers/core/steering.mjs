// The core's half of the subjects of steering.py.

export async function texts(hints, load) {
  const helper = await load('utils/fastAckHelper.js');
  return [
    helper.formatUserHintsForModel(hints),
    helper.buildUserSteeringHintPrompt(hints.join('\n')),
    helper.formatBackgroundCompletionForModel(hints.join('\n')),
  ];
}

export async function injections({ steering, calls }, load) {
  const { InjectionService } = await load('config/injectionService.js');
  const service = new InjectionService(() => steering);
  const heard = [];
  const listeners = {};
  return calls.map(([call, ...rest]) => {
    switch (call) {
      case 'add':
        service.addInjection(...rest);
        return heard.splice(0);
      case 'listen':
        listeners[rest[0]] = (text, source) => {
          heard.push([rest[0], text, source]);
          if (rest[1]) throw new Error('failed');
        };
        service.onInjection(listeners[rest[0]]);
        return null;
      case 'off':
        service.offInjection(listeners[rest[0]]);
        return null;
      case 'latest':
        return service.getLatestInjectionIndex();
      case 'after':
        return service.getInjectionsAfter(rest[0], rest[1] ?? undefined);
      case 'clear':
        service.clear();
        return null;
    }
    throw new Error(call);
  });
}
